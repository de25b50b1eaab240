"""The catalogue: papers and configuration in, runs, cells and their cost out. It never imports torch."""

from clrepro.catalogue.bundles import Bundle
from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.figures import Figure, Point
from clrepro.catalogue.runs import Run
from clrepro.catalogue.tables import Cell, Table

__all__ = ["Bundle", "Catalogue", "Cell", "Figure", "Point", "Run", "Table"]
