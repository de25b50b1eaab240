"""Grid searches of the papers: opt-in, selected on development data."""

from itertools import product

from clrepro.catalogue import papers
from clrepro.catalogue.runs import RunPlanner
from clrepro.errors import unknown
from clrepro.modalities.run import Run


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
