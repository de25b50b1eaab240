"""Simulated figures as the papers' experiments define them."""

from clrepro.catalogue.papers import load


def definition(paper: str, figure: str) -> dict:
    return load(paper, "experiments")["simulations"][figure]
