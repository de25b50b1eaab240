"""Grid searches of the papers, and sweeps of the learning rate: opt-in, selected on development data."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from itertools import product

from clrepro.catalogue import papers
from clrepro.catalogue.runs import RunPlanner
from clrepro.errors import unknown
from clrepro.modalities.run import Run
from clrepro.settings import Common

SWEEP = "sweep"


def names(planner: RunPlanner) -> list[str]:
    """All grid searches that the papers describe, as paper/row@backbone."""
    found = []
    for paper in planner.config.papers:
        for row in papers.load(paper, "experiments").get("grids", {}):
            owner, definition = papers.run_definition(row, paper)
            section = planner.modality(definition, owner).of(planner.config)
            found += [f"{paper}/{row}@{backbone}" for backbone, spec in section.backbones.items() if spec is not None]
    return found


def runs(planner: RunPlanner, name: str) -> tuple[Run, ...]:
    """The runs of a grid search, with the first seed; grid values go before the scale's own settings."""
    known = names(planner)
    wanted = [full for full in known if full == name or full.split("@")[0] == name]
    if not wanted:
        raise unknown("grid", name, known, "grids")
    found: list[Run] = []
    for full in wanted:
        paper, _, rest = full.partition("/")
        row, _, backbone = rest.partition("@")
        grid = papers.load(paper, "experiments")["grids"][row]
        owner, definition = papers.run_definition(row, paper)
        for values in product(*grid.values()):
            changes = dict(zip(grid, values, strict=True))
            found += planner.define(definition, owner, backbone, f"grid {full}", changes)[:1]
    return tuple(dict.fromkeys(found))


def sweeps(config: Common, runs: Iterable[Run]) -> dict[str, tuple[Run, ...]]:
    """By sweep/objective@backbone: the first of these runs of an objective on a backbone, at every learning rate."""
    found: dict[str, list[Run]] = defaultdict(list)
    for run in runs:
        name = f"{SWEEP}/{run.objective}@{run.backbone.key}"
        asked = run.plan.learning_rate_sweep(config) if run.objective and name not in found else None
        if asked:
            rates, seed = asked
            recipes = [run.recipe.model_copy(update={"learning_rate": rate}) for rate in rates]
            found[name] = [replace(run, recipe=recipe, seed=seed) for recipe in recipes]
    return {name: tuple(several) for name, several in found.items()}
