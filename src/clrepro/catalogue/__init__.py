"""Papers and configuration as cells, runs, files, jobs and cost."""

from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.figures import Figure, Point
from clrepro.catalogue.tables import Cell, Table
from clrepro.modalities.run import Run

__all__ = ["Catalogue", "Cell", "Figure", "Point", "Run", "Table"]
