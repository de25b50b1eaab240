"""Which runs share a job."""

from collections import defaultdict
from dataclasses import dataclass

from clrepro.catalogue import detection
from clrepro.catalogue.runs import Run


@dataclass(frozen=True)
class Bundle:
    """Runs of one modality that share a job in every stage."""

    name: str
    runs: tuple[Run, ...]

    @property
    def modality(self) -> str:
        return self.runs[0].modality

    @property
    def probed(self) -> tuple[Run, ...]:
        """Those beside which statistics are recorded."""
        return tuple(run for run in self.runs if run.has_statistics)


def cut(catalogue) -> list[Bundle]:
    """All runs, cut into jobs of at most `jobs.runs`.

    Runs of one objective stay together, and as many objectives as fit share a job, within what one paper needs for
    its tables, or for its figures alone; rows of the configuration have jobs of their own, so that one more leaves
    the papers' jobs as they are.
    """
    size = catalogue.config.jobs.runs
    families: dict[tuple, dict[str, list[Run]]] = defaultdict(lambda: defaultdict(list))
    for run, owner in owners(catalogue).items():
        families[owner, run.modality, run.recipe.precision][run.group].append(run)
    found = []
    for (owner, modality, precision), groups in families.items():
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
            name = f"{owner}_{precision}_{number}"
            if modality != "sentence":
                name = f"{owner}_{modality}s_{precision}_{number}"
            if size == 1:
                name = f"{one.group}_{one.backbone.key}_{one.hash8}_seed{one.seed}"
            found.append(Bundle(name, tuple(runs)))
    return found


def jobs_of(catalogue, bundle: Bundle) -> int:
    """How many jobs a bundle is: training, and embedding with its probes where a table or figure asks for scores."""
    if bundle.modality == "image":
        return 1 + 2 * bool(catalogue.result_files(bundle)) + bool(detection.runs(catalogue, bundle))
    probes = sum(any(catalogue.tests(run, kind) for run in bundle.runs) for kind in ("sts", "transfer"))
    return 1 + probes + bool(probes)


def owners(catalogue) -> dict[Run, str]:
    """Which part of the catalogue has a run made: the first paper whose table, else whose figure, needs it."""
    found: dict[Run, str] = {}
    for table in catalogue.tables:
        for cell in table.cells:
            for run in cell.runs:
                if found.setdefault(run, "rows" if cell.own else table.paper) == "rows" and not cell.own:
                    found[run] = table.paper
    for (
        figure
    ) in catalogue.figures:  # a figure without scores touches no test set, so its runs share no job with others
        for run in figure.runs:
            found.setdefault(run, f"{figure.paper}_{'scored' if figure.scores else 'figures'}")
    for name, runs in catalogue.grids.items():
        for run in runs:
            found.setdefault(run, f"{name.split('/')[0]}_grids")
    return found
