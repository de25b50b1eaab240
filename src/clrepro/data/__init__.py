"""Data: sources and their checksums, corpora, evaluation sets, the embedded demo data."""
