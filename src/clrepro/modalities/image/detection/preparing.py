"""Index images with boxes."""

from pathlib import Path

from clrepro.console import say
from clrepro.modalities.image.detection import boxes
from clrepro.modalities.image.detection.plan import BoxesBuild
from clrepro.paths import digest, read_json, write_json
from clrepro.settings import Common
from clrepro.sources.source import Source, source


def prepare(build: BoxesBuild, config: Common) -> None:
    """Write an index a split and, behind them, record.json in the build's folder."""
    raw = {part.name: read_json(part.record) for part in build.sources}

    def part(source: Source) -> boxes.Part:
        return Path(raw[source.name]["path"]), source.boxes["split"], source.boxes["images"]

    train = [part(source(name)) for name in build.train]
    splits = boxes.prepare(train, [part(source(build.test))], build.folder)
    # the index names images, whose content the archives' sha256 stands for
    record = {"splits": splits, "archives": {name: fetched["sha256"] for name, fetched in raw.items()}}
    write_json(build.folder / "record.json", {**record, "sha256": digest(record)})
    counts = ", ".join(f"{entry['images']:,} {split} images" for split, entry in splits.items())
    say(f"ready in {build.folder}: {counts}")
