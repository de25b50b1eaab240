"""Catalogues of a scale with some settings changed, and their cells."""

from clrepro import config as configuration
from clrepro.catalogue import Catalogue


def asking(scale="paper", **changes):
    raw = configuration.read(configuration.ROOT / ("config.yaml" if scale == "demo" else f"config/{scale}.yaml"))
    return Catalogue(configuration.parse(configuration.merge(raw, changes)))


def cell_of(catalogue, *place):
    return catalogue.cells[(*place, "value")] if len(place) == 4 else catalogue.cells[place]
