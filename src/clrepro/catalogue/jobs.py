"""Which jobs: runs cut into bundles that share a job in every stage, and what each job reads and is handed."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from clrepro import modalities
from clrepro.catalogue.catalogue import Catalogue
from clrepro.catalogue.figures import Figure
from clrepro.catalogue.tables import Table
from clrepro.modalities.evaluation import Evaluation, Resources
from clrepro.modalities.interface import Modality
from clrepro.modalities.run import Build, Run
from clrepro.paths import read_json
from clrepro.stages.evaluating import Asked
from clrepro.workflow import fingerprint, manifest


@dataclass(frozen=True)
class Bundle:
    """Runs of one modality that share a job in every stage."""

    name: str
    runs: tuple[Run, ...]

    @property
    def plan(self) -> Modality:
        return self.runs[0].plan


class Jobs:
    """The jobs of a catalogue, by the names that the rules' wildcards take."""

    def __init__(self, catalogue: Catalogue):
        self.catalogue, self.config, self.files = catalogue, catalogue.config, catalogue.files

    @cached_property
    def bundles(self) -> dict[str, Bundle]:
        return {bundle.name: bundle for bundle in cut(self.catalogue)}

    @cached_property
    def _bundle_of(self) -> dict[Run, Bundle]:
        return {run: bundle for bundle in self.bundles.values() for run in bundle.runs}

    @cached_property
    def builds(self) -> dict[str, Build]:
        """What is made ready, by the name of its folder."""
        return {build.folder.name: build for build in self.catalogue.builds()}

    @property
    def manifests(self) -> list[Path]:
        """The outputs of all jobs that list what they have made."""
        found = [build.manifest for build in self.builds.values()]
        for name, bundle in self.bundles.items():
            jobs = dict.fromkeys(one.job for run in bundle.runs for one in self.catalogue.evaluations(run))
            found += [self.files.manifest(stage, name) for stage in ("train", *jobs)]
        printed = {table.paper for table in self.catalogue.tables if not table.runs}
        return [*found, *(self.files.manifest("printed", paper) for paper in sorted(printed))]

    @property
    def lost(self) -> dict[str, list[str]]:
        """What finished jobs have made and what is gone or overwritten, by the output that vouches for it."""
        printed = [self.files.manifest("printed", paper) for paper in self.config.papers]
        filled = [self.files.of_table(table)[0] for table in self.catalogue.tables if table.runs]
        return manifest.lost(self.manifests) | manifest.taken(printed, filled)

    # what a job reads

    def trained(self, runs: Iterable[Run]) -> list[Path]:
        """What says that runs are trained."""
        names = dict.fromkeys(self._bundle_of[run].name for run in runs)
        return [self.files.manifest("train", name) for name in names]

    def evaluated(self, runs: Iterable[Run], evaluations: Iterable[Evaluation]) -> list[Path]:
        """What says that runs are evaluated, as far as this is asked of them."""
        evaluations = list(evaluations)
        found: dict[Path, None] = {}
        for run in runs:
            for one in evaluations:
                if self.catalogue.is_evaluated(run, one):
                    found[self.files.manifest(one.job, self._bundle_of[run].name)] = None
        return list(found)

    def training_inputs(self, name: str) -> list[Path]:
        bundle = self.bundles[name]
        builds = {run.backbone.manifest: None for run in bundle.runs}
        return [*builds, *(source.record for source in bundle.plan.inputs(self.config))]

    def table_inputs(self, table: Table) -> list[Path]:
        found: dict[Path, None] = dict.fromkeys(self.trained(table.runs))
        of_runs = [(run, one) for run in table.runs for one in run.plan.evaluations if one.every_tabled_run]
        of_cells = [(run, one) for cell in table.cells for run in cell.runs for one in cell.evaluations]
        for run, one in (*of_runs, *of_cells):
            found |= dict.fromkeys(self.evaluated([run], [one]))
        return list(found)

    def figure_inputs(self, figure: Figure) -> list[Path]:
        return [*self.trained(figure.runs), *self.evaluated(figure.runs, figure.evaluations)]

    def checkpoint_inputs(self, job: str, name: str) -> list[Path]:
        """What evaluations of checkpoints read: the runs, and data of their own."""
        asked = self.asked(name, job)
        builds = [build for _, parts in asked for one in parts for build in one.about.builds(self.config)]
        return [*self.trained(run for run, _ in asked), *dict.fromkeys(build.manifest for build in builds)]

    # what a job is handed

    def asked(self, name: str, job: str) -> list[tuple[Run, list[Asked]]]:
        """The runs of a bundle that a job evaluates, and by what."""
        found = []
        for run in self.bundles[name].runs:
            parts = [self._asked(run, one) for one in self.catalogue.evaluations(run) if one.job == job]
            if parts:
                found.append((run, parts))
        return found

    def asked_of(self, runs: Iterable[Run]) -> list[tuple[Run, list[Asked]]]:
        """All evaluations that are asked of runs."""
        return [(run, [self._asked(run, one) for one in self.catalogue.evaluations(run)]) for run in runs]

    def _asked(self, run: Run, one: Evaluation) -> Asked:
        protocol = one.protocol(self.config, one.settings_of(run.evaluation))
        seeds = list(one.seeds(self.config)) if one.seeds else None
        # what is made of every run of a table is made whole, whichever kinds are asked
        kinds = sorted(one.scores) if one.every_tabled_run else self.catalogue.kinds(run, one)
        return Asked(one.name, kinds, protocol, seeds)

    def evaluation_given(self, name: str, job: str) -> list[dict[str, Any]]:
        return [{"run": run.given, "asked": [one.given for one in parts]} for run, parts in self.asked(name, job)]

    def run_given(self, name: str) -> list[dict[str, Any]]:
        return [run.given for run in self.bundles[name].runs]

    def embedded_given(self, name: str) -> list[dict[str, Any]]:
        """The runs of a bundle that an evaluation of features is asked of."""
        runs = self.bundles[name].runs
        return [run.given for run in runs if any(one.reads == "features" for one in self.catalogue.evaluations(run))]

    # code and resources

    def training_code(self, name: str) -> list[str]:
        """Fingerprints of the code that trains a bundle; of an accepted stale run, the one in its record."""

        def code(run: Run) -> str:
            accepted = run.is_accepted(self.config) and run.record.exists()
            return read_json(run.record)["code"] if accepted else run.code

        return sorted({code(run) for run in self.bundles[name].runs})

    def embedding_code(self, name: str) -> str:
        return fingerprint.of_modules(self.bundles[name].plan.code["embed"])

    def evaluation_code(self, name: str, job: str) -> str:
        parts = {one.evaluation: one.about for _, asked in self.asked(name, job) for one in asked}
        return fingerprint.of_modules(tuple(dict.fromkeys(part for one in parts.values() for part in one.code)))

    def evaluation_resources(self, name: str, job: str) -> Resources:
        """Of the evaluations that share a job: the most that any of them asks for, a training's where one resumes."""
        parts = [one.resources for one in self.evaluations.values() if one.job == job]
        if any(one.about.resumes(one.protocol) for _, asked in self.asked(name, job) for one in asked):
            parts.append(Resources(self.config.jobs.memory_mb, self.config.jobs.runtime_minutes, threads=True))
        return Resources(
            max(part.memory_mb for part in parts),
            max(part.minutes for part in parts),
            any(part.threads for part in parts),
        )

    def evaluation_uses_gpu(self, name: str, job: str) -> bool:
        return any(one.about.uses_gpu(one.protocol) for _, parts in self.asked(name, job) for one in parts)

    def checkpoint_minutes(self, job: str) -> int:
        limits = [one.minutes(self.config) for one in self.evaluations.values() if one.job == job and one.minutes]
        return max(limits, default=self.config.jobs.runtime_minutes)

    @cached_property
    def evaluations(self) -> dict[str, Evaluation]:
        """All evaluations that anything asks for."""
        return {one.name: one for run in self.catalogue.runs for one in self.catalogue.evaluations(run)}

    # how many

    @cached_property
    def counts(self) -> dict[str, int]:
        """How many jobs there are of each rule."""
        found: Counter[str] = Counter()
        for source in self.catalogue.sources():
            found["generate" if source.kind == "generated" else "fetch"] += 1
        found["prepare"] = len(self.builds)
        for bundle in self.bundles.values():
            jobs = {(one.reads, one.job) for run in bundle.runs for one in self.catalogue.evaluations(run)}
            features = [job for reads, job in jobs if reads == "features"]
            found["train"] += 1
            found["embed"] += bool(features)
            found["evaluate"] += len(features)
            found["evaluate_checkpoint"] += len(jobs) - len(features)
        tables = self.catalogue.tables
        found["table"] = sum(bool(table.runs) for table in tables)
        found["printed_tables"] = len({table.paper for table in tables if not table.runs})
        found["figure"] = len(self.catalogue.figures)
        found["grid"] = len(self.catalogue.grids)
        found["simulate"] = len(self.catalogue.simulations)
        found["theory"] = found["report"] = 1
        return {rule: count for rule, count in found.items() if count}


def cut(catalogue: Catalogue) -> list[Bundle]:
    """All runs, cut into jobs of at most so many runs as the configuration says, `jobs.runs` where nothing else.

    Runs of one objective stay together, and as many objectives as fit share a job, within what one paper needs for
    its tables, or for its figures alone; rows of the configuration have jobs of their own, so that one more leaves
    the papers' jobs as they are.
    """
    families: dict[tuple, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run, owner in owners(catalogue).items():
        families[owner, run.modality, run.recipe.precision][run.group].append(run)
    found = []
    for (owner, modality, precision), groups in families.items():
        size = modalities.modality(modality).runs_per_job(catalogue.config)
        packs: list[list[Run]] = []
        for runs in groups.values():
            for start in range(0, len(runs), size):
                chunk = runs[start : start + size]
                if packs and len(packs[-1]) + len(chunk) <= size:
                    packs[-1] += chunk
                else:
                    packs.append(chunk)
        for number, runs in enumerate(packs, 1):
            one = runs[0]
            name = f"{owner}_{modality}s_{precision}_{number}"
            if size == 1:
                name = f"{one.group}_{one.backbone.key}_{one.name}"
            found.append(Bundle(name, tuple(runs)))
    return found


def owners(catalogue: Catalogue) -> dict[Run, str]:
    """Which part of the catalogue has a run made: the first paper whose table, else whose figure, needs it."""
    found: dict[Run, str] = {}
    for table in catalogue.tables:
        for cell in table.cells:
            for run in cell.runs:
                if found.setdefault(run, "rows" if cell.own else table.paper) == "rows" and not cell.own:
                    found[run] = table.paper
    # a figure without scores touches no test set, so its runs share no job with others
    for figure in catalogue.figures:
        for run in figure.runs:
            found.setdefault(run, f"{figure.paper}_{'scored' if figure.scores else 'figures'}")
    for name, runs in catalogue.grids.items():
        for run in runs:
            found.setdefault(run, f"{name.split('/')[0]}_grids")
    return found
