"""Molecules made ready: those that an encoder is pre-trained on, and the sets with properties."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from clrepro.errors import UserError, unknown
from clrepro.modalities.graph.build import TrainingSet
from clrepro.modalities.graph.molecules.sets import SETS
from clrepro.modalities.graph.section import Graph
from clrepro.modalities.run import Build
from clrepro.paths import DATA
from clrepro.settings import Common
from clrepro.sources.source import Source, source


@dataclass(frozen=True, eq=False)
class MoleculeBuild(TrainingSet):
    """Molecules to pre-train on."""

    holds = "molecules"
    work = "clrepro.modalities.graph.molecules.preparing:prepare_pretraining"
    code = ("clrepro.modalities.graph.molecules.preparing",)


@dataclass(frozen=True, eq=False)
class MoleculeSetBuild(Build):
    """One set of molecules with properties, split by scaffold. key: its name, as BBBP. archive: the source it is in."""

    work = "clrepro.modalities.graph.molecules.preparing:prepare_set"
    code = ("clrepro.modalities.graph.molecules.preparing",)

    archive: str

    @property
    def source(self) -> Source:
        return source(self.archive, "graph.molecules.data")

    @property
    def sources(self) -> list[Source]:
        return [self.source]

    @cached_property
    def folder(self) -> Path:
        return DATA / "prepared" / self.scale / f"{self.source.identity}-{SETS[self.key].file}"


def molecule_build(section: Graph, scale: str, key: str) -> MoleculeBuild:
    """The build of one of the configuration's encoders of molecules; a spec that cannot be is a UserError."""
    spec = section.backbones[key].model_dump()
    about = source(spec["data"], f"graph.backbones.{key}.data")
    if not about.molecules:
        raise UserError(f"graph.backbones.{key}.data: '{about.name}' has no molecules for `architecture: gin_bonds`")
    return MoleculeBuild(key, scale, spec)


def molecule_set_builds(config: Common) -> dict[str, MoleculeSetBuild]:
    """The sets that a configuration fine-tunes encoders on, by name; an unknown one is refused."""
    wanted = config.graph.molecules
    if wanted is None:
        return {}
    about = source(wanted.data, "graph.molecules.data")
    if not about.molecules:
        raise UserError(f"graph.molecules.data: '{about.name}' has no sets of molecules; moleculenet, say, has them")
    for name in wanted.sets:
        if name not in SETS:
            raise unknown("set of molecules", name, SETS, "graph.molecules.sets")
    return {name: MoleculeSetBuild(name, config.scale, about.name) for name in wanted.sets}
