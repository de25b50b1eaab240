"""Which runs: from what a paper says of a run to the runs that a configuration trains of it."""

import json
from collections.abc import Callable
from dataclasses import replace

from clrepro import modalities
from clrepro.catalogue import papers
from clrepro.errors import UserError
from clrepro.modalities.interface import Modality
from clrepro.modalities.run import Run, Wanted
from clrepro.settings import Common, Float32


class RunPlanner:
    """Plans runs for a configuration; every modality does it in its own way (`Modality.define`)."""

    def __init__(self, config: Common):
        self.config = config
        self._own: dict[tuple[str, str], tuple[dict, str]] = {}
        self._defined: dict[tuple, tuple[dict, tuple[Run, ...]]] = {}

    def modality(self, definition: dict, owner: str) -> Modality:
        return modalities.modality(papers.modality(definition, owner), f"papers/{owner}/experiments.yaml")

    def lacks(self, definition: dict, owner: str, backbone: str, changes: dict | None = None) -> str:
        """Why this configuration does not train a run; empty if it does."""
        chosen = self.config.objectives
        if chosen and definition.get("objective") not in (None, *chosen):
            return f"`objectives` leaves {definition['objective']} out"
        wanted, plan = self._wanted(definition, owner, backbone, "", changes), self.modality(definition, owner)
        why, there = plan.lacks(self.config, wanted), self.config.hardware.memory_gb
        if why or not there or not wanted.objective or wanted.settings is None:
            return why
        run = self.define(definition, owner, backbone, f"{owner}, {backbone}", changes)[0]
        if (needed := plan.memory_gb(run)) <= there:
            return ""
        return (
            f"at batch {run.recipe.batch_size} in {run.recipe.precision} its training needs about {needed:.0f} GB of a "
            f"GPU's memory, `hardware.memory_gb` is {there:g}"
        )

    def define(
        self, definition: dict, owner: str, backbone: str, place: str, changes: dict | None = None
    ) -> tuple[Run, ...]:
        """A run of experiments.yaml on a backbone, with every seed; changes: what a table or figure sets of its own."""
        key = (id(definition), backbone, json.dumps(changes or {}, sort_keys=True))
        if key not in self._defined:
            wanted = self._wanted(definition, owner, backbone, place, changes)
            if wanted.settings is None:
                raise UserError(f"papers/{owner}/experiments.yaml gives no settings for backbone '{backbone}'")
            # kept with the definition, so that no other one gets its id
            runs = self.modality(definition, owner).define(self.config, wanted)
            if self.config.float32 != Float32():  # what is left as it is changes no identity
                how = {"float32": self.config.float32.model_dump()}
                runs = tuple(replace(run, data=run.data | how) for run in runs)
            self._defined[key] = definition, runs
        return self._defined[key][1]

    def _wanted(self, definition: dict, owner: str, backbone: str, place: str, changes: dict | None) -> Wanted:
        known = backbone in definition.get("backbones", {})
        settings = papers.settings(definition, owner, backbone) if known else None
        return Wanted(
            definition.get("objective"),
            definition.get("variant"),
            backbone,
            settings,
            changes or {},
            place,
            bool(definition.get("as_trained")),
        )

    def own_recipe(self, name: str) -> tuple[dict, str]:
        """What a row of the configuration says of its run on any backbone, and the paper whose recipe it takes."""
        row = self.config.rows[name]
        paper, _, recipe = row.recipe.rpartition(".")
        if not paper:
            raise UserError(f"rows.{name}: write the recipe '{recipe}' with its paper, as li2024.simcse")
        return {**row.model_dump(), "recipe": recipe}, paper

    def own(self, name: str, backbone: str) -> tuple[dict, str]:
        """A row of the configuration as a run on a backbone, and the paper whose recipe it takes."""
        if (name, backbone) not in self._own:
            definition, paper = self.own_recipe(name)
            self._own[name, backbone] = {**definition, "backbones": {backbone: {}}}, paper
        return self._own[name, backbone]

    def sweep(self, definition: dict, owner: str) -> Callable[[str, list], list]:
        """Which values of a sweep this configuration trains of a run."""
        modality = self.modality(definition, owner)
        return lambda name, values: modality.sweep(self.config, name, values)

    def backbones(self) -> dict[str, set[str]]:
        """The backbones that any run of the papers names, by modality."""
        found: dict[str, set[str]] = {key: set() for key in modalities.MODALITIES}
        for paper in papers.paper_keys():
            for run in papers.load(paper, "experiments").get("runs", {}).values():
                found[self.modality(run, paper).key] |= set(run["backbones"])
        return found
