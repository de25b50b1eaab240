"""The generators of the embedded data."""
