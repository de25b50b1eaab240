"""Image encoders."""
