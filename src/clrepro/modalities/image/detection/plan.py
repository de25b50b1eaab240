"""Detection transfer: on which images with boxes encoders are fine-tuned as detectors, and by which settings."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation, Score
from clrepro.modalities.image.build import image_build
from clrepro.modalities.run import Build
from clrepro.paths import DATA, digest
from clrepro.settings import Common, Model, PositiveFloat, PositiveInt
from clrepro.sources.source import Source, source

Sizes = Annotated[list[PositiveInt], Field(min_length=1)]


class DetectionSettings(Model):
    """How a detector is fine-tuned (`fine_tuning`) and what it is (`detector`)."""

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


@dataclass(frozen=True, eq=False)
class BoxesBuild(Build):
    """Images with boxes, indexed once for all encoders that become detectors; train and test name sources."""

    work = "clrepro.modalities.image.detection.preparing:prepare"
    code = ("clrepro.modalities.image.detection.preparing",)

    train: list[str]
    test: str

    @property
    def data(self) -> dict:
        return {"train": [source(name).identity for name in self.train], "test": source(self.test).identity}

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"detection-{digest(self.data)}"

    @property
    def sources(self) -> list[Source]:
        return [source(name) for name in dict.fromkeys([*self.train, self.test])]


def boxes_build(config: Common) -> BoxesBuild | None:
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
    return BoxesBuild("detection", config.scale, list(spec.train), spec.test)


def lacks(config: Common, backbone: str) -> str:
    """Why this configuration makes no detector of a backbone; empty if it does."""
    images = boxes_build(config)
    if images is None:
        return "this configuration has no `image.detection`: no images with boxes to fine-tune on"
    for part in images.sources:
        if not part.is_reachable(config.mirror):
            return f"{part.name} has no url: put it into <mirror>/{part.mirror}"
    if config.image.backbones.get(backbone) is None:
        return ""
    encoder = image_build(config.image, config.scale, backbone)
    if encoder.spec["stem"] is None or encoder.source.images["channels"] != 3:
        return "a detector needs resnet18 or resnet50 and colour images"
    return ""


def settings(config: Common, part: dict, place: str) -> dict:
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
    return {**boxes_build(config).data, **how.model_dump()}


def caption(how: dict, kind: str) -> str:
    if kind == "detection_voc07":
        return "With 11 points: over VOC2007's eleven recalls."
    return (
        f"Detection: Faster R-CNN on C4 features, fine-tuned on {' and '.join(how['train'])} for "
        f"{how['iterations']:,} iterations of {how['batch_size']} images, rate {how['learning_rate']:g}; "
        f"tested on {how['test']}, average precision over 101 recalls."
    )


DETECTION = Evaluation(
    name="detection",
    described="object detection",
    reads="checkpoint",
    scores={"detection": Score(), "detection_voc07": Score()},
    settings={"detection": DetectionSettings},
    caption=caption,
    lacks=lacks,
    builds=lambda config: tuple(filter(None, [boxes_build(config)])),
    minutes=lambda config: config.image.detection.runtime_minutes,
    work="clrepro.modalities.image.detection.work:evaluate",
    code=(
        "clrepro.modalities.image.detection.fine_tuning",
        "clrepro.modalities.image.detection.precision",
        "clrepro.modalities.image.detection.detector",
        "clrepro.modalities.image.detection.work",
    ),
)
