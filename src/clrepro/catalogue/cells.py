"""Which cells: of every table, figure and sentence of a paper, with the runs that fill it or why it is a hole."""

from collections.abc import Callable

from clrepro import modalities
from clrepro.catalogue import papers, tables
from clrepro.catalogue.runs import RunPlanner
from clrepro.catalogue.tables import DIFFERENCE, Cell, Table
from clrepro.errors import UserError


class CellPlanner:
    """Plans the cells of papers for the configuration of a planner of runs."""

    def __init__(self, runs: RunPlanner):
        self.runs, self.config = runs, runs.config

    def table(self, paper: str, name: str, spec: dict) -> Table:
        kind = papers.kind(spec)
        if kind in tables.PRINTED:
            return Table(paper, name, kind, tables.printed(paper, name, spec))
        layout = tables.layout(paper, name, self._own_rows(paper, name))
        return Table(paper, name, kind, tuple(self._cell(paper, name, *rest) for rest in layout))

    def stated(self, paper: str, name: str, spec: dict) -> Table:
        """The numbers that stand in a figure or in sentences, as a table."""
        if papers.kind(spec) == "text":
            return Table(paper, name, "text", tables.of_text(paper, name, spec))
        cells = tuple(self._cell(paper, name, *rest) for rest in tables.of_figure(paper, name, spec))
        return Table(paper, name, papers.kind(spec), cells)

    def baselines(self, table: Table) -> tuple[Cell, ...]:
        """Cells that a table does not print, but from which printed differences are."""
        layout = () if table.is_printed else tables.baselines(table.paper, table.name)
        return tuple(self._cell(table.paper, table.name, *rest) for rest in layout)

    def _own_rows(self, paper: str, name: str) -> list[str]:
        """The configuration's rows of a table: those of the modality of its first run."""
        first = papers.first_run(paper, name)
        if first is None:
            return []
        owner, definition = first
        modality = self.runs.modality(definition, owner)
        named = definition.get("recipe") or ""
        here = named if "." in named or not named else f"{owner}.{named}"
        found = []
        for row, part in self.config.rows.items():
            other, other_owner = self.runs.own_recipe(row)
            same = self.runs.modality(other, other_owner) is modality
            if same and (part.recipe == here or not modality.rows_share_recipe):
                found.append(row)
        return found

    def _not_run(self, paper: str, name: str) -> str:
        """Why nothing fills a table's cells, as far as experiments.yaml gives a reason."""
        return papers.load(paper, "experiments").get("not_run", {}).get(name, "no experiment fills this row yet")

    def _cell(self, paper: str, table: str, row: str, column: str, metric: str, spec: dict | None) -> Cell:
        place = (paper, table, row, column, metric)
        if spec is None:
            return Cell(*place, None, hole=self._not_run(paper, table))
        if spec.get("quoted"):
            return Cell(*place, None, hole="quoted by the paper from another one, so there is no run of it")
        if spec.get("difference"):
            sides = tuple(((table, *where, "value"),) for where in spec["difference"])
            return Cell(*place, DIFFERENCE, differences=(sides,))
        elsewhere = {key: spec.get(key) for key in ("published_row", "published_column", "published_metric")}
        score = spec["score"]
        if spec.get("hole"):
            return Cell(*place, score, hole=spec["hole"], **elsewhere)
        elsewhere["own"] = "own" in spec
        definition, owner, where = self._definition(spec, paper)
        if why := self._lacks(spec, definition, owner):
            return Cell(*place, score, hole=why, **elsewhere)
        changes = spec.get("settings", {})

        def define(more: dict) -> tuple:
            return self.runs.define(definition, owner, spec["backbone"], where, {**changes, **more})

        try:
            if "sweep" not in spec:
                return Cell(*place, score, define({}), **elsewhere)
            ((swept, values),) = spec["sweep"].items()
            kept = self.runs.sweep(definition, owner)(swept, values)
            points = tuple((value, define({swept: value})) for value in kept)
        except UserError as failure:
            if self.is_asked(paper, table) or "own" in spec:
                raise
            return Cell(*place, score, hole=str(failure), **elsewhere)  # nobody asked for it: no reason to stop
        if not points:
            setting = self.runs.modality(definition, owner).sweep_setting()
            return Cell(*place, score, hole=f"{setting} has no value of this {swept}", **elsewhere)
        runs = tuple(run for _, part in points for run in part)
        return Cell(*place, score, runs, select=spec["select"], points=points, **elsewhere)

    def is_asked(self, paper: str, name: str) -> bool:
        return not self.config.tables or f"{paper}/{name}" in self.config.tables

    def _definition(self, spec: dict, paper: str) -> tuple[dict, str, str]:
        """A cell's run as experiments.yaml or the configuration defines it, its owner, and where that stands."""
        if "own" in spec:
            definition, owner = self.runs.own(spec["own"], spec["backbone"])
            return definition, owner, f"rows.{spec['own']}"
        owner, definition = papers.run_definition(spec["run"], paper)
        return definition, owner, f"papers/{owner}/experiments.yaml, {spec['run']}"

    def _lacks(self, spec: dict, definition: dict, owner: str) -> str:
        """Why the configuration has no runs of a cell."""
        backbone = spec["backbone"]
        evaluation = modalities.evaluation_of(spec["score"], f"papers/{owner}/experiments.yaml")
        reasons: list[Callable[[], str]] = [
            lambda: evaluation.lacks(self.config, backbone),
            lambda: self.runs.lacks(definition, owner, backbone, spec.get("settings", {})),
        ]
        if "own" in spec and not papers.recipe_covers(owner, definition["recipe"], backbone):
            name = self.config.rows[spec["own"]].recipe
            reasons.append(lambda: f"the recipe {name} has no settings for {backbone}")
        return next(filter(None, (reason() for reason in reasons)), "")
