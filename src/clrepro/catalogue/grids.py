"""Grid searches of the papers: opt-in, selected on STS-B dev."""

from itertools import product

from clrepro.catalogue import papers
from clrepro.catalogue.runs import Run
from clrepro.errors import unknown


def names(catalogue) -> list[str]:
    """All grid searches that the papers describe, as paper/row@backbone."""
    return [
        f"{paper}/{row}@{backbone}"
        for paper in catalogue.config.papers
        for row, _ in papers.load(paper, "experiments").get("grids", {}).items()
        for backbone, spec in catalogue.config.sentence.backbones.items()
        if spec is not None
    ]


def runs(catalogue, name: str) -> tuple[Run, ...]:
    """The runs of a grid search, with the first seed; grid values go before the scale's own settings."""
    known = names(catalogue)
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
            found += catalogue.define_runs(definition, owner, backbone, f"grid {full}", changes)[:1]
    return tuple(dict.fromkeys(found))
