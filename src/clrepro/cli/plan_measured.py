"""``clrepro plan --measure``: steps of every kind of training timed on this machine, and prices from them."""

from collections import defaultdict
from importlib import import_module

from tqdm import tqdm

from clrepro.catalogue import Catalogue, cost
from clrepro.errors import UserError
from clrepro.modalities.run import Run
from clrepro.settings import Common

LONGEST = 4.0  # seconds of a step on a CPU at an assumed 0.05 TFLOP/s: larger batches are cut, and priced in proportion
ASSUMED = 5e10
Kind = tuple[str, str, str, int]


def kinds(catalogue: Catalogue) -> dict[Kind, list[Run]]:
    """Trainings by what decides the time of a step: encoder, framework, precision, batch."""
    found: dict[Kind, list[Run]] = defaultdict(list)
    for run in catalogue.runs:
        if run.objective and run.plan.rehearsal:
            how = getattr(run.recipe, "framework", "")
            found[run.backbone.key, how, run.recipe.precision, run.recipe.batch_size].append(run)
    return found


def measured(run: Run, config: Common, device) -> tuple[float, int]:
    """Seconds of a step of a training, and the batch that was timed where that of the run would take too long."""
    from clrepro.objectives import make
    from clrepro.training.rehearsal import seconds

    module, _, name = run.plan.rehearsal.partition(":")
    size = batch = run.recipe.batch_size
    if device.type == "cpu":
        slow = run.plan.cost(config, run).training * 3600 * config.hardware.teraflops * 1e12 / ASSUMED
        step = slow / run.plan.steps(config, run)
        batch = max(2, min(size, int(size * LONGEST / step)))
    rehearsal = getattr(import_module(module), name)(run, device, batch)
    objective = make(run.objective, run.variant, **run.params)
    return seconds(rehearsal, objective, run.recipe.model_dump()) * size / batch, batch


def print_measured(catalogue: Catalogue) -> None:
    """Milliseconds a step and hours by kind of training, and of all; embedding and evaluation in proportion."""
    import torch

    from clrepro.device import choose_device

    config, total = catalogue.config, 0.0
    try:
        device = choose_device(config.device)
    except UserError:
        device = choose_device("auto")
    torch.set_num_threads(config.jobs.threads)
    name = torch.cuda.get_device_name() if device.type == "cuda" else f"the CPU, threads: {torch.get_num_threads()}"
    print(f"\nmeasured on {name}")
    print(f"{'encoder':<24}{'framework':<11}{'precision':<11}{'batch':>6}{'runs':>6}{'ms a step':>11}{'hours':>12}")
    for (key, how, precision, size), runs in tqdm(kinds(catalogue).items(), unit="kind", disable=None, leave=False):
        try:
            seconds, batch = measured(runs[0], config, device)
        except torch.cuda.OutOfMemoryError:
            tqdm.write(f"{key:<24}{how:<11}{precision:<11}{size:>6}{len(runs):>6}{'out of memory':>23}")
            continue
        estimated = runs[0].plan.cost(config, runs[0]).training * 3600 / runs[0].plan.steps(config, runs[0])
        hours = cost.of_runs_evaluated(catalogue, runs).hours * seconds / estimated
        total += hours
        cut = f"  timed with {batch}" if batch < size else ""
        tqdm.write(
            f"{key:<24}{how:<11}{precision:<11}{size:>6}{len(runs):>6}{1e3 * seconds:>11,.1f}{hours:>12,.1f}{cut}"
        )
    others = [run for run in catalogue.runs if not (run.objective and run.plan.rehearsal)]
    rest = cost.of_runs_evaluated(catalogue, others).hours
    print(
        f"{total:,.1f} hours here, and {rest:,.1f} hours of {config.hardware.name} for the {len(others)} runs not timed"
    )
