"""An image set made ready, and the encoder that is trained on it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from clrepro.errors import UserError
from clrepro.modalities.image.section import Image
from clrepro.modalities.run import Build
from clrepro.paths import DATA, digest
from clrepro.sources.source import Source, source


@dataclass(frozen=True, eq=False)
class ImageBuild(Build):
    """spec: of the configuration's backbone. Encoders on one image set share its folder."""

    work = "clrepro.modalities.image.preparing:prepare"
    code = ("clrepro.modalities.image.preparing",)

    spec: dict

    @property
    def identity(self) -> dict:
        """The encoder; its image set is the run's data."""
        return {name: self.spec[name] for name in ("architecture", "stem", "side")}

    @property
    def source(self) -> Source:
        return source(self.spec["data"], f"image.backbones.{self.key}")

    @property
    def sources(self) -> list[Source]:
        return [self.source]

    @property
    def data(self) -> dict:
        return {"images": self.source.identity, "classes": self.spec["classes"]}

    @property
    def encoder(self) -> dict:
        """What training needs to build the encoder and to show it images."""
        return {**self.identity, "statistics": self.source.images["statistics"]}

    @property
    def to_prepare(self) -> dict:
        """The image set alone: which of its encoders comes first must not matter."""
        spec = {name: self.spec[name] for name in ("data", "classes")}
        return {**self.given, "key": self.source.name, "spec": spec}

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"{self.source.name}-{digest(self.data)}"


def image_build(section: Image, scale: str, key: str) -> ImageBuild:
    """The build of one of the configuration's backbones; a spec that cannot be is a UserError."""
    place = f"image.backbones.{key}"
    spec: dict[str, Any] = section.backbones[key].model_dump()
    about = source(spec["data"], f"{place}.data")
    if not about.images:
        raise UserError(f"{place}.data: '{about.name}' is no image set")
    if (spec["architecture"] in ("conv3", "resnet8")) != (spec["stem"] is None):
        raise UserError(f"{place}: resnet18 and resnet50 need `stem: cifar` or `stem: imagenet`, the others have none")
    return ImageBuild(key, scale, spec)
