"""Graph encoders: unsupervised classification of graphs, and molecules."""
