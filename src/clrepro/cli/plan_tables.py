"""What ``clrepro plan`` prints, one function a part."""

import math

from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.jobs import Jobs
from clrepro.cli.options import megabytes
from clrepro.modalities.run import Run

ATTEMPTED = 1 + 2 + 3 + 4  # times the time limit: the cluster profiles try a job four times, with more time each time


def print_tables(catalogue: Catalogue, tabled: set[Run]) -> None:
    """Runs, holes, hours and disk of each table, of the figures' further runs, and of all."""
    print(f"{'table':<24}{'runs':>6}{'holes':>7}{'hours':>10}{'disk':>12}")
    for table in catalogue.tables:
        holes = sum(bool(cell.hole) for cell in table.cells)
        print_price(f"{table.paper}/{table.name}", len(table.runs), holes, cost.of_table(catalogue, table))
    of_figures = tuple(dict.fromkeys(run for figure in catalogue.figures for run in figure.runs if run not in tabled))
    if of_figures:
        print_price("figures, beyond tables", len(of_figures), "", cost.of_runs(catalogue, of_figures))
    print_price("all, each run once", len(catalogue.runs), "", cost.of_all(catalogue))


def print_price(name: str, runs: int, holes: int | str, price: cost.Cost) -> None:
    print(f"{name:<24}{runs:>6}{holes:>7}{price.hours:>10.2f}{megabytes(price.gigabytes):>12}")


def print_jobs(catalogue: Catalogue) -> None:
    hardware = catalogue.config.hardware
    largest = max((cost.of_run(catalogue, run).gigabytes for run in catalogue.runs), default=0)
    jobs = sum(Jobs(catalogue).counts.values())
    print(f"\n{jobs} jobs; a training under way keeps up to {megabytes(4 * largest)} of state")
    print(f"Hours are of {hardware.name} at {hardware.teraflops:g} TFLOP/s, from operation counts: an estimate.")


def print_limits(catalogue: Catalogue) -> None:
    """The longest training job of each backbone that four attempts may not finish."""
    given = catalogue.config.jobs.runtime_minutes
    allowed = ATTEMPTED * given / 60
    longest: dict[str, float] = {}
    for bundle in Jobs(catalogue).bundles.values():
        hours, key = cost.of_runs(catalogue, bundle.runs).hours, bundle.runs[0].backbone.key
        longest[key] = max(hours, longest.get(key, 0.0))
    for key, hours in longest.items():
        if hours > allowed:
            enough = math.ceil(60 * hours / ATTEMPTED)
            print(
                f"TOO SHORT: a training job of {key} is priced at {hours:.1f} hours; four attempts, which go on "
                f"where the last one stopped, may take {allowed:.1f} (`jobs.runtime_minutes: {given}`, then 2, 3 and 4 "
                f"times as many): set `jobs.runtime_minutes: {enough}` or more, or lower `jobs.runs`"
            )


def print_sources(catalogue: Catalogue) -> None:
    for source in catalogue.sources():
        place = "generated" if source.kind == "generated" else source.url or f"mirror only: {source.mirror}"
        print(f"source {source.name} ({source.megabytes:g} MB): {place}")

    total = sum(source.megabytes for source in catalogue.sources() if source.url)
    if total:
        print(f"downloads: {megabytes(total / 1e3)}")


def print_simulations(catalogue: Catalogue) -> None:
    thinned = sum(bool(simulation.settings["footnote"]) for simulation in catalogue.simulations)
    counts = f"{thinned} of them thinned" if thinned else "at the papers' counts"
    print(f"{len(catalogue.simulations)} figures without training, {counts}, and the theory checks: minutes")


def print_figures(catalogue: Catalogue, tabled: set[Run]) -> None:
    """Each figure's runs, those among them that no table has, and the hours of these."""
    asked = {f"{figure.paper}/{figure.name}" for figure in catalogue.figures}
    print(f"\n{'figure':<32}{'runs':>6}{'new':>6}{'hours':>12}")
    for name in catalogue.figure_names():
        runs = catalogue.figure(name).runs
        new = tuple(run for run in runs if run not in tabled)
        left_out = "" if name in asked else "  not asked for"
        print(f"{name:<32}{len(runs):>6}{len(new):>6}{cost.of_runs(catalogue, new).hours:>12,.1f}{left_out}")
    print("New runs are those that no table needs; hours are of these. Figures share runs.")
    print('Ask for them with `figures: ["paper/figure"]` in the configuration, `["paper"]` for all of a paper.')
    for simulation in catalogue.simulations:
        print(f"without training: {simulation.paper}/{simulation.name}: {simulation.shows}")
    for name, why in catalogue.not_regenerated().items():
        print(f"not regenerated: {name}: {why}")


def print_grids(catalogue: Catalogue) -> None:
    print(f"\n{'grid search (opt-in)':<32}{'runs':>6}{'hours':>12}")
    for name in catalogue.grid_names():
        runs = catalogue.grid(name)
        print(f"{name:<32}{len(runs):>6}{cost.of_runs(catalogue, runs).hours:>12,.1f}")
    print('Run one with `grids: ["paper/row@backbone"]` in the configuration; STS-B dev selects.')
