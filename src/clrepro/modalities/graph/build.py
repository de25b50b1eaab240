"""A set of graphs made ready, and the encoder that is trained on it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from clrepro.errors import UserError
from clrepro.modalities.graph.section import Graph
from clrepro.modalities.run import Build
from clrepro.paths import DATA
from clrepro.sources.source import Source, source


@dataclass(frozen=True, eq=False)
class TrainingSet(Build):
    """What an encoder is trained on. spec: of the configuration's backbone. Encoders on one set share its folder."""

    holds: ClassVar[str]  # what the set is of, in a run's identity

    spec: dict

    @property
    def identity(self) -> dict:
        """The encoder; its set is the run's data."""
        return {name: self.spec[name] for name in ("architecture", "width", "layers")}

    @property
    def source(self) -> Source:
        return source(self.spec["data"], f"graph.backbones.{self.key}")

    @property
    def sources(self) -> list[Source]:
        return [self.source]

    @property
    def data(self) -> dict:
        return {self.holds: self.source.identity}

    @property
    def to_prepare(self) -> dict:
        """The set alone: which of its encoders comes first must not matter."""
        return {**self.given, "key": self.source.name, "spec": {"data": self.spec["data"]}}

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / self.source.identity


@dataclass(frozen=True, eq=False)
class GraphBuild(TrainingSet):
    """A set of graphs with classes."""

    holds = "graphs"
    work = "clrepro.modalities.graph.preparing:prepare"
    code = ("clrepro.modalities.graph.preparing",)


def graph_build(section: Graph, scale: str, key: str) -> GraphBuild:
    """The build of one of the configuration's encoders of graphs; a spec that cannot be is a UserError."""
    spec = section.backbones[key].model_dump()
    about = source(spec["data"], f"graph.backbones.{key}.data")
    if not about.graphs:
        raise UserError(f"graph.backbones.{key}.data: '{about.name}' is no set of graphs for `architecture: gin`")
    return GraphBuild(key, scale, spec)
