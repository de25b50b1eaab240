"""From papers and configuration to runs, tables, cells and bundles of jobs."""

from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from clrepro.catalogue import bundles, detection, figures, grids, image_runs, papers, processes, simulations, tables
from clrepro.catalogue.bundles import Bundle
from clrepro.catalogue.detection import DetectionBuild
from clrepro.catalogue.figures import Figure
from clrepro.catalogue.runs import (
    BackboneBuild,
    ImageBuild,
    Run,
    backbone_build,
    corpus_identity,
    image_build,
    resolved,
    result_file,
    split_settings,
)
from clrepro.catalogue.simulations import Simulation
from clrepro.catalogue.tables import Cell, Table
from clrepro.config import Config
from clrepro.config import load as load_config
from clrepro.errors import UserError, unknown
from clrepro.objectives import NAMES
from clrepro.paths import RESULTS, read_json
from clrepro.sources.source import Source, source


class Catalogue:
    """All that a configuration asks for. Every name is checked here, before anything starts."""

    def __init__(self, config: Config):
        self.config = config
        self.corpus = source(config.sentence.corpus, "sentence.corpus")
        self.tasks = source(config.sentence.tasks, "sentence.tasks")
        self.detection = detection.build(config)
        self._check_names()
        self.every_table = tuple(
            self._table(paper, name, spec)
            for paper in config.papers
            for name, spec in papers.published_tables(paper).items()
        )
        self.tables = tuple(table for table in self.every_table if self._is_asked(table.paper, table.name))
        self.stated = tuple(
            Table(paper, name, papers.kind(spec), self._stated(paper, name, spec))
            for paper in config.papers
            for name, spec in papers.stated_tables(paper).items()
        )
        self.grids = {name: self.grid(name) for name in config.grids}
        left_out = set(papers.paper_keys()) - set(config.papers)
        kept = (name for name in config.figures if name.split("/")[0] not in left_out)
        wanted_figures = dict.fromkeys(full for name in kept for full in self.figures_named(name))
        self.figures = tuple(self.figure(name) for name in wanted_figures)
        self.simulations: tuple[Simulation, ...] = tuple(
            simulations.build(paper, name, config.scale, config.simulation)
            for paper in config.papers
            for name in papers.load(paper, "experiments").get("simulations", {})
        )
        wanted = [run for part in (*self.tables, *self.figures) for run in part.runs]
        wanted += [run for runs in self.grids.values() for run in runs]
        self.runs: tuple[Run, ...] = tuple(dict.fromkeys(wanted))
        self._by_folder = {run.folder: run for run in self.runs}
        self._results = self._asked_results()
        self._check_accepted()

    def _check_names(self) -> None:
        known = set()
        for paper in self.config.papers:
            known |= {f"{paper}/{table}" for table in papers.published_tables(paper)}
        for name in self.config.tables:
            if name in known:
                continue
            if name.split("/")[0] in set(papers.paper_keys()) - set(self.config.papers):
                raise UserError(
                    f"tables: '{name}' is of a paper that `papers` leaves out; `tables: []` is all of "
                    f"{', '.join(self.config.papers)}"
                )
            raise unknown("table", name, known, "tables")
        backbones: dict[str, set[str]] = {"sentence": set(), "image": set()}
        for paper in papers.paper_keys():
            for run in papers.load(paper, "experiments").get("runs", {}).values():
                backbones[papers.modality(run, paper)] |= set(run["backbones"])
        for modality, known in backbones.items():
            for name in getattr(self.config, modality).backbones:
                if name not in known:
                    raise unknown("backbone", name, known, f"{modality}.backbones")

    def _check_accepted(self) -> None:
        for name in self.config.accept_stale:
            if name not in NAMES and not any(self._names(run, name) for run in self.runs):
                raise unknown("run or objective", name, [*NAMES, *(run.hash8 for run in self.runs)], "accept_stale")

    @staticmethod
    def _names(run: Run, name: str) -> bool:
        return name in (run.objective, run.hash8, str(run.folder), str(run.folder.parent))

    # tables and cells

    def _is_asked(self, paper: str, name: str) -> bool:
        return not self.config.tables or f"{paper}/{name}" in self.config.tables

    def _not_run(self, paper: str, name: str) -> str:
        """Why nothing fills a table's cells, as far as experiments.yaml gives a reason."""
        return papers.load(paper, "experiments").get("not_run", {}).get(name, "no experiment fills this row yet")

    def _table(self, paper: str, name: str, spec: dict) -> Table:
        kind = papers.kind(spec)
        if kind in tables.PRINTED:
            return Table(paper, name, kind, tables.printed(paper, name, spec))
        layout = tables.layout(paper, name, self._own_rows(paper, name))
        return Table(paper, name, kind, tuple(self._cell(paper, name, *rest) for rest in layout))

    def _own_rows(self, paper: str, name: str) -> list[str]:
        """The configuration's rows of a table: of sentences all, of images those with the recipe of the table."""

        def modality(recipe: str) -> str:
            owner, _, part = recipe.rpartition(".")
            return papers.modality({"recipe": part}, owner) if owner else "sentence"

        here = papers.recipe_of_table(paper, name)
        rows = {row: part.recipe for row, part in self.config.rows.items()}
        if modality(here) == "image":
            return [row for row, recipe in rows.items() if recipe == here]
        return [row for row, recipe in rows.items() if modality(recipe) == "sentence"]

    def _stated(self, paper: str, name: str, spec: dict) -> tuple[Cell, ...]:
        """The cells of numbers that stand in a figure or in sentences."""
        if papers.kind(spec) == "text":
            return tables.of_text(paper, name, spec)
        return tuple(self._cell(paper, name, *rest) for rest in tables.of_figure(paper, name, spec))

    def _cell(self, paper: str, table: str, row: str, column: str, metric: str, spec: dict | None) -> Cell:
        place = (paper, table, row, column, metric)
        if spec is None:
            return Cell(*place, None, hole=self._not_run(paper, table))
        if spec.get("quoted"):
            return Cell(*place, None, hole="quoted by the paper from another one, so there is no run of it")
        if spec.get("difference"):
            sides = tuple(((table, *where, "value"),) for where in spec["difference"])
            return Cell(*place, "difference", differences=(sides,))
        backbone, score = spec["backbone"], spec["score"]
        elsewhere = {key: spec.get(key) for key in ("published_row", "published_column", "published_metric")}
        elsewhere["percent"] = spec.get("percent", True)
        if spec.get("hole"):
            return Cell(*place, score, hole=spec["hole"], **elsewhere)
        changes = spec.get("settings", {})
        if "own" in spec:
            definition, owner = self._own_definition(spec["own"], backbone)
            where = f"rows.{spec['own']}"
            elsewhere["own"] = True
        else:
            owner, definition = papers.run_definition(spec["run"], paper)
            where = f"papers/{owner}/experiments.yaml, {spec['run']}"
        why = detection.lacks(self.config, backbone, score) or self.lacks(definition, owner, backbone, changes)
        if not why and "own" in spec and not papers.recipe_covers(owner, definition["recipe"], backbone):
            why = f"the recipe {self.config.rows[spec['own']].recipe} has no settings for {backbone}"
        if why:
            return Cell(*place, score, hole=why, **elsewhere)
        try:
            if "sweep" not in spec:
                return Cell(*place, score, self.define_runs(definition, owner, backbone, where, changes), **elsewhere)
            ((swept, values),) = spec["sweep"].items()
            points = tuple(
                (value, self.define_runs(definition, owner, backbone, where, {**changes, swept: value}))
                for value in self.sweep(swept, values)
            )
        except UserError as failure:
            if self._is_asked(paper, table) or "own" in spec:
                raise
            return Cell(*place, score, hole=str(failure), **elsewhere)  # nobody asked for it: no reason to stop
        if not points:
            why = f"`image.training.learning_rates` has no value of this {swept}"
            return Cell(*place, score, hole=why, **elsewhere)
        runs = tuple(run for _, part in points for run in part)
        return Cell(*place, score, runs, select=spec["select"], points=points, **elsewhere)

    def sweep(self, name: str, values: list) -> list:
        """The values of a sweep that this configuration trains."""
        kept = self.config.image.training.learning_rates if name == "learning_rate" else None
        return [value for value in values if kept is None or value in kept]

    def sweep_of(self, spec: dict):
        """Which values of a figure's sweeps this configuration trains: of image encoders, not all learning rates."""
        images = any(name in self.config.image.backbones for name in spec.get("backbones") or ())
        return self.sweep if images else lambda name, values: values

    def lacks(self, definition: dict, owner: str, backbone: str, changes: dict | None = None) -> str:
        """Why this configuration does not train a run, as far as backbones and batch sizes go; empty if it does."""
        modality = papers.modality(definition, owner)
        spec = getattr(self.config, modality).backbones.get(backbone)
        if spec is None:
            return f"this configuration has no `{modality}.backbones.{backbone}`"
        if modality == "sentence":
            return ""
        build = image_build(self.config, backbone)
        if not build.source.is_reachable(self.config.mirror):
            return f"image set {build.source.name} has no url: put it into <mirror>/{build.source.mirror}"
        if backbone not in definition["backbones"]:
            return ""
        settings = {**papers.settings(definition, owner, backbone), **(changes or {})}
        sizes = self.config.image.training.batch_sizes
        if sizes is not None and settings["batch_size"] not in sizes:
            return f"`image.training.batch_sizes` leaves {settings['batch_size']} out"
        return ""

    @cached_property
    def cells(self) -> dict[tuple[str, ...], Cell]:
        """All cells, those of figures and sentences and printed differences included, by paper and address."""
        parts = [cell for table in (*self.every_table, *self.stated) for cell in table.cells]
        parts += [
            cell
            for table in self.every_table
            if not table.is_printed
            for cell in tables.deltas(table.paper, table.name)
        ]
        return {(cell.paper, cell.table, cell.row, cell.column, cell.metric): cell for cell in parts}

    def _own_definition(self, name: str, backbone: str) -> tuple[dict, str]:
        """A row of the configuration as a run on a backbone, and the paper whose recipe it takes."""
        row = self.config.rows[name]
        paper, _, recipe = row.recipe.rpartition(".")
        if not paper:
            raise UserError(f"rows.{name}: write the recipe '{recipe}' with its paper, as li2024.simcse")
        return {**row.model_dump(), "recipe": recipe, "backbones": {backbone: {}}}, paper

    @cached_property
    def baselines(self) -> dict[tuple[str, ...], Cell]:
        """Cells that no table prints, but from which printed differences are, by paper and address."""
        parts = [
            self._cell(table.paper, table.name, *rest)
            for table in self.every_table
            if not table.is_printed
            for rest in tables.baselines(table.paper, table.name)
        ]
        return {(cell.paper, cell.table, cell.row, cell.column, cell.metric): cell for cell in parts}

    # runs

    def define_runs(
        self, definition: dict, owner: str, backbone: str, place: str, changes: dict | None = None
    ) -> tuple[Run, ...]:
        if papers.modality(definition, owner) == "image":
            return image_runs.define(self.config, definition, owner, backbone, place, changes)
        objective = definition.get("objective")
        overrides = self.config.sentence.training.model_dump(exclude_none=True)
        if not objective:  # what a scale changes in training does not touch an untrained encoder, but for
            kept = ("max_length", "pooling") if definition.get("as_trained") else ("max_length",)
            overrides = {key: value for key, value in overrides.items() if key in kept}
        merged = {**papers.settings(definition, owner, backbone), **overrides, **(changes or {})}
        how, params = split_settings(merged, objective, place)
        variant, params = resolved(objective, definition, params, place) if objective else (None, params)
        data = {"corpus": corpus_identity(self.config), "tasks": self.tasks.identity}
        build = backbone_build(self.config, backbone, how.max_length)
        lines = self.config.sentence.corpus_lines or self.corpus.sentences
        if objective and lines is not None and how.batch_size > (1 - how.held_out) * lines:
            part = "the corpus" if not how.held_out else f"what is not held out ({how.held_out:g}) of the corpus"
            raise UserError(
                f"{place}: batch_size {how.batch_size} is larger than {part} of {lines:,} sentences; lower "
                "`sentence.training.batch_size` or raise `sentence.corpus_lines`"
            )
        return tuple(
            Run(self.config.scale, "sentence", build, objective, variant, params, how, data, seed)
            for seed in (self.config.seeds if objective else [0])
        )

    # grid searches: opt-in, selected on STS-B dev

    def grid_names(self) -> list[str]:
        """All grid searches that the papers describe, as paper/row@backbone."""
        return grids.names(self)

    def grid(self, name: str) -> tuple[Run, ...]:
        """The runs of a grid search, with the first seed."""
        return grids.runs(self, name)

    # figures: those that the configuration names, with every seed

    def figure_names(self) -> list[str]:
        """All figures that need training, as paper/figure."""
        return [
            f"{paper}/{figure}"
            for paper in self.config.papers
            for figure in papers.load(paper, "experiments").get("figures", {})
        ]

    def not_regenerated(self) -> dict[str, str]:
        """What the papers' figures show without anything to compute, {paper/figure: why}."""
        return {
            f"{paper}/{figure}": why
            for paper in self.config.papers
            for figure, why in papers.load(paper, "experiments").get("not_regenerated", {}).items()
        }

    def figures_named(self, name: str) -> list[str]:
        """The figures that a name stands for: one, or all of a paper."""
        names = [known for known in self.figure_names() if name in (known, known.split("/")[0])]
        if not names:
            whole = {known.split("/")[0] for known in self.figure_names()}
            raise unknown("figure", name, {*self.figure_names(), *whole}, "figures")
        return names

    def figure(self, name: str) -> Figure:
        return figures.build(self, *name.split("/"))

    def tests(self, run: Run, kind: str) -> bool:
        """Whether a table or figure of this configuration needs a run's results of a kind, as sts or linear."""
        asked = self._tested.get(run, ()) if run.modality == "sentence" else self.results(run)
        return f"{kind}.json" in asked

    @cached_property
    def _tested(self) -> dict[Run, set[str]]:
        found: dict[Run, set[str]] = defaultdict(set)
        for table in self.tables:
            for run in table.runs:
                found[run] |= {"sts.json", "transfer.json"}
        for figure in self.figures:
            for run in figure.runs:
                found[run] |= set(figure.tests)
        return found

    def _asked_results(self) -> dict[Run, dict[str, None]]:
        """The kinds of scores that tables and figures ask of each run."""
        asked: dict[Run, dict[str, None]] = defaultdict(dict)
        cells = [cell for table in self.tables for cell in table.cells]
        # numbers that a figure states come with the runs that something else asks for
        trained = set(self.runs)
        cells += [cell for table in self.stated for cell in table.cells if trained.issuperset(cell.runs)]
        for cell in cells:
            for run in cell.runs:
                asked[run] |= dict.fromkeys(part.split("/")[0] for part in (cell.score, cell.select) if part)
        for figure in self.figures:
            for run in figure.runs:
                asked[run] |= dict.fromkeys(part.split("/")[0] for part in (*figure.scores, *figure.pictures))
        return asked

    def kinds(self, run: Run) -> tuple[str, ...]:
        """The kinds of scores of features, as linear or finetune_10, that tables and figures ask of an image run."""
        return tuple(sorted(kind for kind in self._results.get(run, ()) if result_file(kind) != detection.FILE))

    def results(self, run: Run) -> tuple[str, ...]:
        """The files of results that are made of a run: all of a sentence encoder's, of an image encoder's the asked."""
        if run.modality == "sentence":
            return ("sts.json", "transfer.json")
        return tuple(sorted(set(map(result_file, self._results.get(run, ())))))

    def table_inputs(self, table: Table) -> list[Path]:
        """What a table is made from: records and results."""
        found = dict.fromkeys(run.record for run in table.runs)
        for cell in table.cells:
            for run in cell.runs:
                names = self.results(run) if run.modality == "sentence" else cell.results
                found |= dict.fromkeys(run.folder / name for name in names)
        return list(found)

    def train_inputs(self, bundle: Bundle) -> list[Path]:
        """What a bundle's trainings and embeddings read."""
        found = {record for run in bundle.runs for record in run.backbone.records}
        return sorted(found | ({self.tasks.record} if bundle.modality == "sentence" else set()))

    def result_files(self, bundle: Bundle) -> list[Path]:
        """What the probes of a bundle of image runs write, of their stored features."""
        return [run.folder / name for run in bundle.runs for name in self.feature_results(run)]

    def feature_results(self, run: Run) -> tuple[str, ...]:
        """The files of results that are made of an image run's stored features."""
        return tuple(name for name in self.results(run) if name != detection.FILE)

    def run_at(self, folder: Path | str) -> Run:
        return self._by_folder[Path(folder)]

    def bundles(self) -> list[Bundle]:
        """All runs, cut into jobs of at most `jobs.runs`."""
        return bundles.cut(self)

    def backbones(self) -> tuple[BackboneBuild | ImageBuild | DetectionBuild, ...]:
        """What is made ready; image encoders on one image set share it, and detectors their images with boxes."""
        builds = {run.backbone.folder: run.backbone for run in self.runs}
        return *builds.values(), *([self.detection] if any(self.tests(run, "detection") for run in self.runs) else [])

    def sources(self) -> tuple[Source, ...]:
        """The sources that the runs need."""
        builds = self.backbones()
        needed = [self.corpus, self.tasks]
        needed += [part for build in builds for part in self.prepared_from(build) if part not in needed]
        return tuple({item.name: item for item in needed}.values())

    def prepared_from(self, build: BackboneBuild | ImageBuild | DetectionBuild) -> list[Source]:
        """The sources that a backbone, or images with boxes, are made ready from."""
        if isinstance(build, DetectionBuild):
            return build.sources
        if isinstance(build, ImageBuild):
            return [build.source]
        return [part for part in (self.corpus, build.weights) if part]

    def check_inputs(self) -> None:
        """Fail now, not after hours, where a source can come from nowhere."""
        for item in self.sources():
            item.check_reachable(self.config.mirror)
        processes.check(self.config, self.runs)

    def training_code(self, run: Run) -> str:
        """The fingerprint of the code that trains a run; of an accepted stale run, the one in its record."""
        if self.accepts_stale(run) and run.record.exists():
            return read_json(run.record)["code"]
        return run.code

    def accepts_stale(self, run: Run) -> bool:
        return any(self._names(run, name) for name in self.config.accept_stale)

    def is_stale(self, run: Run, record: dict) -> bool:
        return record["code"] != run.code

    @cached_property
    def is_papers_own(self) -> bool:
        """Whether data, backbones, protocol and training are those of config/paper.yaml, so that numbers compare."""
        original = load_config("paper").sentence
        ours = self.config.sentence
        training = ours.training.model_copy(update={"checkpoint_every": None})  # changes no number
        same = ours.model_copy(update={"backbones": original.backbones, "training": training}) == original
        return same and all(spec in (None, original.backbones.get(key)) for key, spec in ours.backbones.items())

    @cached_property
    def is_papers_own_image(self) -> bool:
        """The same for image encoders."""
        original, ours = load_config("paper").image, self.config.image
        same = ours.training == original.training and ours.detection in (None, original.detection)
        return same and all(spec in (None, original.backbones.get(key)) for key, spec in ours.backbones.items())

    def compares(self, runs: Iterable[Run]) -> bool:
        """Whether numbers of these runs may stand beside published ones."""
        found = {run.modality for run in runs} or {"sentence"}
        return all(self.is_papers_own_image if one == "image" else self.is_papers_own for one in found)

    def table_folder(self, table: Table) -> Path:
        return RESULTS / self.config.scale / "tables" / table.paper

    def table_files(self, table: Table) -> list[Path]:
        return [self.table_folder(table) / f"{table.name}.{suffix}" for suffix in ("csv", "md", "tex", "html")]

    def figure_files(self, figure: Figure) -> list[Path]:
        """svg, png and csv, in a simulation's order; the csv alone where the configuration leaves it no points."""
        csv = self.figure_file(figure)
        return [csv.with_suffix(".svg"), csv.with_suffix(".png"), csv] if figure.points else [csv]

    @property
    def report_files(self) -> list[Path]:
        names = ("{}/ledger.csv", "{}/claims.csv", "metrics/{}.json", "{}/report.html")
        return [RESULTS / name.format(self.config.scale) for name in names]

    @property
    def theory_files(self) -> list[Path]:
        return [RESULTS / self.config.scale / f"theory.{suffix}" for suffix in ("csv", "md")]

    def figure_file(self, figure: Figure) -> Path:
        return RESULTS / self.config.scale / "figures" / figure.paper / f"{figure.name}.csv"
