"""Which sources a mirror must hold for a configuration."""

from pathlib import Path
from tempfile import TemporaryDirectory

from clrepro.catalogue.catalogue import Catalogue
from clrepro.settings import Common
from clrepro.sources.mirroring import Need
from clrepro.sources.source import Source, sources


def needs(config: Common, folder: Path) -> list[Need]:
    """The sources that the runs need; then those that more runs would need, if what is got by hand were there."""

    def of(mirror: Path | str) -> dict[str, Source]:
        found = Catalogue(config.model_copy(update={"mirror": str(mirror)})).sources()
        return {source.name: source for source in found if source.kind != "generated"}

    required = of(folder)
    with TemporaryDirectory() as full:  # by its names, a mirror in which nothing is missing
        for source in sources().values():
            if source.mirror:
                (Path(full) / source.mirror).mkdir(parents=True)
        every = of(full)
    return [(source, name in required) for name, source in (required | every).items()]
