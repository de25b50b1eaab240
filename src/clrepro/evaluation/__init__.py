"""Evaluation: embeddings, semantic textual similarity, transfer tasks."""
