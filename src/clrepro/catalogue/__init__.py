"""The catalogue: papers and configuration in, runs, cells and their cost out. It never imports torch."""

from clrepro.catalogue.catalogue import Bundle, Catalogue, Cell, Table
from clrepro.catalogue.runs import Run

__all__ = ["Bundle", "Catalogue", "Cell", "Run", "Table"]
