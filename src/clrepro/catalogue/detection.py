"""Detection transfer: on which images with boxes encoders are fine-tuned as detectors, and by which settings."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clrepro.catalogue.runs import Run, digest, image_build, result_file
from clrepro.config import Config, PositiveFloat, PositiveInt
from clrepro.errors import UserError, unknown
from clrepro.paths import DATA
from clrepro.sources.source import Source, source

FILE = "detection.json"
Sizes = Annotated[list[PositiveInt], Field(min_length=1)]


class DetectionSettings(BaseModel):
    """How a detector is fine-tuned (`fine_tuning`) and what it is (`detector`)."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    iterations: PositiveInt
    batch_size: PositiveInt
    learning_rate: PositiveFloat
    momentum: Annotated[float, Field(ge=0, lt=1)]
    weight_decay: Annotated[float, Field(ge=0)]
    warmup: Annotated[int, Field(ge=0)]
    precise_norm: PositiveInt
    sides: Sizes
    longest_side: PositiveInt
    anchors: Sizes
    regions: PositiveInt
    region_size: PositiveInt


@dataclass(frozen=True)
class DetectionBuild:
    """Images with boxes, indexed once for all encoders that become detectors."""

    train: tuple[Source, ...]
    test: Source
    scale: str
    modality = "detection"

    @property
    def data(self) -> dict:
        return {"train": [part.identity for part in self.train], "test": self.test.identity}

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"detection-{digest(self.data)}"

    @property
    def records(self) -> tuple[Path, ...]:
        return (self.folder / "record.json",)

    @property
    def sources(self) -> list[Source]:
        return list({part.name: part for part in (*self.train, self.test)}.values())


def build(config: Config) -> DetectionBuild | None:
    """The images with boxes of a configuration, if it has any."""
    spec = config.image.detection
    if spec is None:
        return None
    for place, names in (("train", spec.train), ("test", [spec.test])):
        for name in names:
            if not source(name, f"image.detection.{place}").boxes:
                raise UserError(f"image.detection.{place}: '{name}' has no boxes; voc2007-trainval, say, has them")
        if not names:
            raise UserError("image.detection.train names no source")
    return DetectionBuild(tuple(map(source, spec.train)), source(spec.test), config.scale)


def lacks(config: Config, backbone: str, score: str) -> str:
    """Why this configuration makes no detector of a backbone; empty if it does, or if none is asked for."""
    if result_file(score) != FILE:
        return ""
    images = build(config)
    if images is None:
        return "this configuration has no `image.detection`: no images with boxes to fine-tune on"
    for part in images.sources:
        if not part.is_reachable(config.mirror):
            return f"{part.name} has no url: put it into <mirror>/{part.mirror}"
    if config.image.backbones.get(backbone) is None:
        return ""
    encoder = image_build(config, backbone)
    if encoder.spec["stem"] is None or encoder.source.images["channels"] != 3:
        return "a detector needs resnet18 or resnet50 and colour images"
    return ""


def settings(config: Config, part: dict, place: str) -> dict:
    """The settings of a run's detector, those of the configuration before the paper's, and its images."""
    ours = config.image.detection.settings
    for name in ours:
        if name not in DetectionSettings.model_fields:
            raise unknown("setting", name, DetectionSettings.model_fields, "image.detection.settings")
    try:
        how = DetectionSettings(**{**part, **ours})
    except ValidationError as failure:
        error = failure.errors()[0]
        name = str(error["loc"][0])
        where = "image.detection.settings" if name in ours else f"{place}, evaluation.detection"
        raise UserError(f"{where}: {name}: {error['msg']}") from None
    return {**build(config).data, **how.model_dump()}


def runs(catalogue, bundle) -> list[Run]:
    """The runs of a bundle that are fine-tuned as detectors."""
    return [run for run in bundle.runs if catalogue.tests(run, "detection")]
