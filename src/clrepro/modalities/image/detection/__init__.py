"""Fine-tuning encoders as detectors."""
