"""From papers and configuration to runs, tables, cells and bundles of jobs."""

from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from clrepro import fingerprint
from clrepro.catalogue import papers
from clrepro.catalogue.runs import BackboneBuild, Run, backbone_build, corpus_identity, split_settings
from clrepro.config import Config
from clrepro.config import load as load_config
from clrepro.data.sources import Source, source
from clrepro.errors import UserError, unknown
from clrepro.objectives import NAMES, resolve
from clrepro.paths import RESULTS, read_json


@dataclass(frozen=True)
class Cell:
    """One number of one table: which runs fill it by which score, or why it is a hole."""

    paper: str
    table: str
    row: str
    column: str
    metric: str
    score: str | None
    runs: tuple[Run, ...] = ()
    hole: str = ""
    published_row: str | None = None  # where the published number stands under another row or metric
    published_metric: str | None = None


@dataclass(frozen=True)
class Table:
    """A table of a paper: its cells in the paper's order."""

    paper: str
    name: str
    cells: tuple[Cell, ...]

    @property
    def target(self) -> str:
        """The name that the workflow gives to this table."""
        return f"{self.paper}_{self.name}"

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(dict.fromkeys(run for cell in self.cells for run in cell.runs))


@dataclass(frozen=True)
class Bundle:
    """Runs of one objective that share a job in every stage."""

    name: str
    runs: tuple[Run, ...]


class Catalogue:
    """All that a configuration asks for. Every name is checked here, before anything starts."""

    def __init__(self, config: Config):
        self.config = config
        self.corpus = source(config.sentence.corpus, "sentence.corpus")
        self.tasks = source(config.sentence.tasks, "sentence.tasks")
        self._check_names()
        self.tables = tuple(
            self._table(paper, table)
            for paper in config.papers
            for table in papers.load(paper, "experiments").get("tables", {})
            if not config.tables or f"{paper}/{table}" in config.tables
        )
        self.grids = {name: self.grid(name) for name in config.grids}
        wanted = [run for table in self.tables for run in table.runs]
        wanted += [run for runs in self.grids.values() for run in runs]
        self.runs: tuple[Run, ...] = tuple(dict.fromkeys(wanted))
        self._by_folder = {run.folder: run for run in self.runs}
        self._check_accepted()

    def _check_names(self) -> None:
        known = set()
        for paper in self.config.papers:
            known |= {f"{paper}/{table}" for table in papers.load(paper, "experiments").get("tables", {})}
        for name in self.config.tables:
            if name not in known:
                raise unknown("table", name, known, "tables")
        columns = {
            column["backbone"]
            for paper in papers.paper_keys()
            for table in papers.load(paper, "experiments").get("tables", {}).values()
            for column in (*table["columns"].values(), *table["rows"].values())
            if column and "backbone" in column
        }
        for name in self.config.sentence.backbones:
            if name not in columns:
                raise unknown("backbone", name, columns, "sentence.backbones")

    def _check_accepted(self) -> None:
        for name in self.config.accept_stale:
            if name not in NAMES and not any(self._names(run, name) for run in self.runs):
                raise unknown("run or objective", name, [*NAMES, *(run.hash8 for run in self.runs)], "accept_stale")

    @staticmethod
    def _names(run: Run, name: str) -> bool:
        return name in (run.objective, run.hash8, str(run.folder), str(run.folder.parent))

    # tables and cells

    def _table(self, paper: str, name: str) -> Table:
        spec = papers.load(paper, "experiments")["tables"][name]
        published = papers.published_tables(paper)[name]
        rows = {name: spec["rows"].get(name) for name in row_order(published, spec)}
        columns = {**dict.fromkeys(published["columns"]), **spec["columns"]}
        cells = [
            self._cell(paper, name, row, column, metric, *parts)
            for (row, row_part), (column, column_part) in product(rows.items(), columns.items())
            for metric, metric_part in spec["metrics"].items()
            for parts in [(row_part, column_part, metric_part)]
        ]
        return Table(paper, name, tuple(cells))

    def _cell(self, paper: str, table: str, row: str, column: str, metric: str, *parts: dict | None) -> Cell:
        place = (paper, table, row, column, metric)
        if any(part is None for part in parts[:2]):
            return Cell(*place, None, hole="no experiment fills this row yet")
        merged: dict[str, Any] = {}
        for part in parts:
            merged.update(part or {})
        backbone = merged["backbone"]
        score = merged["score"]
        elsewhere = {
            "published_row": merged.get("published_row"),
            "published_metric": merged.get("published_metric"),
        }
        if self.config.sentence.backbones.get(backbone) is None:
            why = f"this configuration has no `sentence.backbones.{backbone}`"
            return Cell(*place, score, hole=why, **elsewhere)
        owner, definition = papers.run_definition(merged["run"], paper)
        runs = self.define_runs(definition, owner, backbone, f"papers/{owner}/experiments.yaml, {merged['run']}")
        return Cell(*place, score, runs, **elsewhere)

    # runs

    def define_runs(
        self, definition: dict, owner: str, backbone: str, place: str, changes: dict | None = None
    ) -> tuple[Run, ...]:
        objective = definition.get("objective")
        overrides = self.config.sentence.training.model_dump(exclude_none=True)
        if not objective:  # what a scale changes in training does not touch an untrained encoder, but for
            kept = ("max_length", "pooling") if definition.get("as_trained") else ("max_length",)
            overrides = {key: value for key, value in overrides.items() if key in kept}
        merged = {**papers.settings(definition, owner, backbone), **overrides, **(changes or {})}
        how, params = split_settings(merged, objective, place)
        variant = None
        if objective:
            variant, params = resolve(objective, definition.get("variant"), **params)
        data = {"corpus": corpus_identity(self.config), "tasks": self.tasks.identity}
        build = backbone_build(self.config, backbone, how.max_length)
        lines = self.config.sentence.corpus_lines or self.corpus.sentences
        if objective and lines is not None and how.batch_size > lines:
            raise UserError(
                f"{place}: batch_size {how.batch_size} is larger than the corpus of {lines:,} sentences; lower "
                "`sentence.training.batch_size` or raise `sentence.corpus_lines`"
            )
        return tuple(
            Run(self.config.scale, "sentence", build, objective, variant, params, how, data, seed)
            for seed in (self.config.seeds if objective else [0])
        )

    # grid searches: opt-in, selected on STS-B dev

    def grid_names(self) -> list[str]:
        """All grid searches that the papers describe, as paper/row@backbone."""
        return [
            f"{paper}/{row}@{backbone}"
            for paper in self.config.papers
            for row, _ in papers.load(paper, "experiments").get("grids", {}).items()
            for backbone, spec in self.config.sentence.backbones.items()
            if spec is not None
        ]

    def grid(self, name: str) -> tuple[Run, ...]:
        """The runs of a grid search, with the first seed; grid values go before the scale's own settings."""
        names = [known for known in self.grid_names() if known == name or known.split("@")[0] == name]
        if not names:
            raise unknown("grid", name, self.grid_names(), "grids")
        runs: list[Run] = []
        for full in names:
            paper, _, rest = full.partition("/")
            row, _, backbone = rest.partition("@")
            grid = papers.load(paper, "experiments")["grids"][row]
            owner, definition = papers.run_definition(row, paper)
            for values in product(*grid.values()):
                changes = dict(zip(grid, values, strict=True))
                runs += self.define_runs(definition, owner, backbone, f"grid {full}", changes)[:1]
        return tuple(dict.fromkeys(runs))

    # what the rules ask for

    def run_at(self, folder: Path | str) -> Run:
        return self._by_folder[Path(folder)]

    def bundles(self) -> list[Bundle]:
        """Runs grouped by objective and precision, cut into jobs of `jobs.runs`."""
        groups: dict[tuple, list[Run]] = defaultdict(list)
        for run in self.runs:
            groups[run.group, run.recipe.precision].append(run)
        size = self.config.jobs.runs
        bundles = []
        for (group, precision), runs in groups.items():
            chunks = [runs[start : start + size] for start in range(0, len(runs), size)]
            for number, chunk in enumerate(chunks, 1):
                one = chunk[0]
                name = f"{one.backbone.key}_{one.hash8}_seed{one.seed}" if size == 1 else f"{precision}_{number}"
                bundles.append(Bundle(f"{group}_{name}", tuple(chunk)))
        return bundles

    def backbones(self) -> tuple[BackboneBuild, ...]:
        return tuple({run.backbone.folder: run.backbone for run in self.runs}.values())

    def sources(self) -> tuple[Source, ...]:
        """The sources that the runs need."""
        needed = [self.corpus, self.tasks, *(build.weights for build in self.backbones() if build.weights)]
        return tuple({item.name: item for item in needed}.values())

    def check_inputs(self) -> None:
        """Fail now, not after hours, where a source can come from nowhere."""
        for item in self.sources():
            item.check_reachable(self.config.mirror)

    def training_code(self, run: Run) -> str:
        """The fingerprint of the code that trains a run; of an accepted stale run, the one in its record."""
        if self.accepts_stale(run) and run.record.exists():
            return read_json(run.record)["code"]
        return fingerprint.of_stage("train", run.objective)

    def accepts_stale(self, run: Run) -> bool:
        return any(self._names(run, name) for name in self.config.accept_stale)

    def is_stale(self, run: Run, record: dict) -> bool:
        return record["code"] != fingerprint.of_stage("train", run.objective)

    @property
    def is_papers_own(self) -> bool:
        """Whether data, backbones, protocol and training are those of config/paper.yaml, so that numbers compare."""
        original = load_config("paper").sentence
        ours = self.config.sentence
        same = ours.model_copy(update={"backbones": original.backbones}) == original
        return same and all(spec in (None, original.backbones.get(key)) for key, spec in ours.backbones.items())

    def table_folder(self, table: Table) -> Path:
        return RESULTS / self.config.scale / "tables" / table.paper


def row_order(published: dict, spec: dict) -> list[str]:
    """The paper's rows, and rows of ours after the one that they follow in experiments.yaml."""
    order = [row["id"] for row in published["rows"]]
    for before, name in pairwise([None, *spec["rows"]]):
        if name not in order:
            order.insert(order.index(before) + 1 if before else 0, name)
    return order
