"""Decode an image set into arrays, or index it."""

from pathlib import Path

from clrepro.console import say
from clrepro.modalities.image import files, image_sets
from clrepro.modalities.image.build import ImageBuild
from clrepro.paths import digest, read_json, write_json
from clrepro.settings import Common


def prepare(build: ImageBuild, config: Common) -> None:
    """Write the splits and, behind them, record.json in the build's folder."""
    about, raw = build.source.images, read_json(build.source.record)
    subset: dict = {}
    if about["kind"] == "image-folder":
        counts = {split: about[split] for split in image_sets.SPLITS}
        subset = {"side": about["side"], "counts": counts}
        if build.spec["classes"]:
            subset = {"side": about["side"], "class_ids": files.imagenet100()}
    path = None if build.source.kind == "generated" else Path(raw["path"])
    record = image_sets.prepare(path, about["kind"], build.folder, **subset)
    write_json(build.folder / "record.json", {**record, "sha256": digest(record)})
    counts = ", ".join(f"{part['examples']:,} {split}" for split, part in record["splits"].items())
    say(f"{build.source.name}: ready in {build.folder}, {counts} images")
