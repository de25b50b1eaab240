"""Molecules: pre-training on their graphs, and fine-tuning on the sets of MoleculeNet."""
