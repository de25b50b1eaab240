"""From papers and configuration to everything that a scale makes: tables, figures, runs and their evaluations."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from clrepro import modalities
from clrepro.catalogue import asked, figures, grids, papers, processes, simulations
from clrepro.catalogue.cells import CellPlanner
from clrepro.catalogue.figures import Figure
from clrepro.catalogue.files import Files
from clrepro.catalogue.runs import RunPlanner
from clrepro.catalogue.simulations import Simulation
from clrepro.catalogue.tables import Cell, Table
from clrepro.config import shipped
from clrepro.errors import UserError, unknown
from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Build, Run
from clrepro.objectives import NAMES
from clrepro.settings import Common
from clrepro.sources.source import Source

Address = tuple[str, ...]  # paper, table, row, column, metric


class Catalogue:
    """All that a configuration asks for. Every name is checked here, before anything starts.

    whole: plan everything at once, as the workflow needs it. A job that writes one table or figure plans only what it
    looks at.
    """

    def __init__(self, config: Common, whole: bool = True):
        self.config, self.files = config, Files(config.scale)
        self._runs = RunPlanner(config)
        self._cells = CellPlanner(self._runs)
        if whole:
            self._check_names()
            self._plan_all()
            self._check_accepted()

    def _plan_all(self) -> None:
        """Plan every part, so that what is wrong in one is an error now."""
        for part in ("every_table", "stated", "figures", "grids", "simulations", "runs"):
            getattr(self, part)

    def _check_names(self) -> None:
        for one in modalities.MODALITIES.values():
            one.check(self.config)
        for name in self.config.objectives:
            if name not in NAMES:
                raise unknown("objective", name, NAMES, "objectives")
        known = {f"{paper}/{table}" for paper in self.config.papers for table in papers.published_tables(paper)}
        for name in self.config.tables:
            if name in known:
                continue
            if name.split("/")[0] in set(papers.paper_keys()) - set(self.config.papers):
                raise UserError(
                    f"tables: '{name}' is of a paper that `papers` leaves out; `tables: []` is all of "
                    f"{', '.join(self.config.papers)}"
                )
            raise unknown("table", name, known, "tables")
        for key, names in self._runs.backbones().items():
            for name in modalities.modality(key).of(self.config).backbones:
                if name not in names:
                    raise unknown("backbone", name, names, f"{key}.backbones")

    def _check_accepted(self) -> None:
        for name in self.config.accept_stale:
            if name not in NAMES and not any(run.is_called(name) for run in self.runs):
                raise unknown("run or objective", name, [*NAMES, *(run.hash8 for run in self.runs)], "accept_stale")

    # which cells

    def table(self, paper: str, name: str) -> Table:
        """One table, planned alone."""
        return self._cells.table(paper, name, papers.published_tables(paper)[name])

    @cached_property
    def every_table(self) -> tuple[Table, ...]:
        """The tables of the papers, asked for or not."""
        return tuple(self.table(paper, name) for paper in self.config.papers for name in papers.published_tables(paper))

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        """The tables that the configuration asks for."""
        return tuple(table for table in self.every_table if self._cells.is_asked(table.paper, table.name))

    @cached_property
    def stated(self) -> tuple[Table, ...]:
        """The numbers that stand in figures and in sentences."""
        return tuple(
            self._cells.stated(paper, name, spec)
            for paper in self.config.papers
            for name, spec in papers.stated_tables(paper).items()
        )

    @cached_property
    def cells(self) -> dict[Address, Cell]:
        """All cells, those of figures and sentences and printed differences included, by paper and address."""
        parts = [cell for table in (*self.every_table, *self.stated) for cell in table.cells]
        parts += [cell for table in self.every_table for cell in table.deltas]
        return by_address(parts)

    @cached_property
    def baselines(self) -> dict[Address, Cell]:
        """Cells that no table prints, but from which printed differences are, by paper and address."""
        return by_address(cell for table in self.every_table for cell in self._cells.baselines(table))

    # which figures

    def figure_names(self) -> list[str]:
        """All figures that need training, as paper/figure."""
        return [
            f"{paper}/{figure}"
            for paper in self.config.papers
            for figure in papers.load(paper, "experiments").get("figures", {})
        ]

    def figures_named(self, name: str) -> list[str]:
        """The figures that a name stands for: one, or all of a paper."""
        names = [known for known in self.figure_names() if name in (known, known.split("/")[0])]
        if not names:
            whole = {known.split("/")[0] for known in self.figure_names()}
            raise unknown("figure", name, {*self.figure_names(), *whole}, "figures")
        return names

    def figure(self, name: str) -> Figure:
        return figures.build(self._runs, *name.split("/"))

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures that need training and that the configuration asks for, with every seed."""
        left_out = set(papers.paper_keys()) - set(self.config.papers)
        kept = (name for name in self.config.figures if name.split("/")[0] not in left_out)
        wanted = dict.fromkeys(full for name in kept for full in self.figures_named(name))
        return tuple(map(self.figure, wanted))

    @cached_property
    def simulations(self) -> tuple[Simulation, ...]:
        """The figures that need no training."""
        return tuple(
            simulations.build(paper, name, self.config.scale, self.config.simulation)
            for paper in self.config.papers
            for name in papers.load(paper, "experiments").get("simulations", {})
        )

    def not_regenerated(self) -> dict[str, str]:
        """What the papers' figures show without anything to compute, {paper/figure: why}."""
        return {
            f"{paper}/{figure}": why
            for paper in self.config.papers
            for figure, why in papers.load(paper, "experiments").get("not_regenerated", {}).items()
        }

    # which grid searches: opt-in

    def grid_names(self) -> list[str]:
        """All grid searches that the papers describe, as paper/row@backbone."""
        return grids.names(self._runs)

    def grid(self, name: str) -> tuple[Run, ...]:
        """The runs of a grid search, with the first seed, or of a sweep."""
        return self.sweeps[name] if name in self.sweeps else grids.runs(self._runs, name)

    @cached_property
    def sweeps(self) -> dict[str, tuple[Run, ...]]:
        """The sweeps of the learning rate that the configuration asks for."""
        return grids.sweeps(self.config, [run for table in self.tables for run in table.runs])

    @cached_property
    def grids(self) -> dict[str, tuple[Run, ...]]:
        """All grid searches and sweeps that the configuration asks for."""
        return {name: self.grid(name) for name in (*self.config.grids, *self.sweeps)}

    # which runs, and how they are evaluated

    @cached_property
    def runs(self) -> tuple[Run, ...]:
        """All runs, each once."""
        wanted = [run for part in (*self.tables, *self.figures) for run in part.runs]
        wanted += [run for runs in self.grids.values() for run in runs]
        return tuple(dict.fromkeys(wanted))

    @cached_property
    def asked(self) -> dict[Run, asked.Kinds]:
        """The kinds of scores that tables and figures ask of each run, by the name of their evaluation."""
        return asked.of_runs(self.tables, self.figures, self.stated, set(self.runs))

    def kinds(self, run: Run, evaluation: Evaluation) -> list[str]:
        """The kinds of an evaluation that are asked of a run."""
        return sorted(self.asked[run].get(evaluation.name, {})) if run in self.asked else []

    def evaluations(self, run: Run) -> list[Evaluation]:
        """The evaluations that are asked of a run."""
        return [one for one in run.plan.evaluations if self.kinds(run, one)]

    def is_evaluated(self, run: Run, evaluation: Evaluation) -> bool:
        return bool(self.kinds(run, evaluation))

    def compares(self, runs: Iterable[Run]) -> bool:
        """Whether numbers of these runs may stand beside published ones; without runs, numbers of any."""
        found = {run.modality for run in runs} or set(modalities.MODALITIES)
        return all(self._papers_own[key] for key in found)

    @cached_property
    def _papers_own(self) -> dict[str, bool]:
        original = shipped("paper")
        return {key: one.is_papers_own(self.config, original) for key, one in modalities.MODALITIES.items()}

    # what they need

    def builds(self, runs: Iterable[Run] | None = None) -> tuple[Build, ...]:
        """What is made ready for runs (all of them), each once, with what their evaluations read besides."""
        found: dict[Path, Build] = {}
        for run in self.runs if runs is None else runs:
            of_evaluations = [build for one in self.evaluations(run) for build in one.builds(self.config)]
            found |= {build.folder: build for build in (run.backbone, *of_evaluations) if build.folder not in found}
        return tuple(found.values())

    def sources(self, runs: Iterable[Run] | None = None) -> tuple[Source, ...]:
        """The sources that runs (all of them) need."""
        runs = self.runs if runs is None else tuple(runs)
        plans = dict.fromkeys(run.plan for run in runs)
        needed = [part for build in self.builds(runs) for part in build.sources]
        needed += [part for plan in plans for part in plan.inputs(self.config)]
        return tuple({part.name: part for part in needed}.values())

    @property
    def target_names(self) -> list[str]:
        """What the workflow can be asked for by name."""
        parts = (*self.tables, *self.figures, *self.simulations)
        return [*(part.target for part in parts), *self.config.papers]

    def runs_of(self, targets: Iterable[str]) -> tuple[Run, ...]:
        """The runs of targets by name (tables, figures, papers); all runs where a target is anything else, or none."""
        parts = {part.target: [part] for part in (*self.tables, *self.figures, *self.simulations)}
        for paper in self.config.papers:
            parts[paper] = [part for part in (*self.tables, *self.figures) if part.paper == paper]
        targets = list(targets)
        if not targets or not all(target in parts for target in targets):
            return self.runs
        found = [part for target in targets for part in parts[target] if not isinstance(part, Simulation)]
        return tuple(dict.fromkeys(run for part in found for run in part.runs))

    def check_inputs(self, runs: Iterable[Run] | None = None) -> None:
        """Fail now, not after hours, where a source that runs (all of them) need can come from nowhere."""
        runs = self.runs if runs is None else tuple(runs)
        for source in self.sources(runs):
            source.check_reachable(self.config.mirror)
        processes.check(self.config, runs)


def by_address(cells: Iterable[Cell]) -> dict[Address, Cell]:
    return {(cell.paper, cell.table, cell.row, cell.column, cell.metric): cell for cell in cells}
