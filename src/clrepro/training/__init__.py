"""Training: one loop for all modalities."""
