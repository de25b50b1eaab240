"""Contrastive-learning papers, reproduced: objectives, training, evaluation, ledger."""

__version__ = "0.1.0"
