"""Encoders, pooling and heads."""
