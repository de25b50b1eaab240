"""What ``clrepro plan`` prints of named GPUs: hours by component, and what does not fit."""

from clrepro.catalogue.gpus import DATASHEETS, START_SECONDS, Part, gpu

COMPONENTS = {
    "training": "training",
    "embedding": "embedding",
    "fine_tuning": "evaluations with the encoder",
    "start": f"start of jobs, {START_SECONDS:g} s each",
    "hours": "GPU hours",
    "probing": "CPU core hours: probes",
    "decoding": "CPU core hours: reading images",
}


def print_hours(part: Part) -> None:
    """A table of hours, a column for each named GPU, and what overflows it."""
    names = list(DATASHEETS)
    print(f"\n{part.title}: {len(part.runs):,} runs")
    print(f"{'hours of one GPU, by datasheets':<34}" + "".join(f"{name:>9}" for name in names))
    columns = {name: part.hours(name) for name in names}
    for key, title in COMPONENTS.items():
        if any(column[key] >= 0.05 for column in columns.values()):
            print(f"{title:<34}" + "".join(f"{hours(columns[name][key]):>9}" for name in names))
    for name in names:
        if runs := part.too_large(name):
            most = max(runs, key=lambda run: run.plan.memory_gb(run))
            print(
                f"TOO LARGE for one {name}: {len(runs)} trainings; {most.backbone.key} at batch "
                f"{most.recipe.batch_size} needs about {most.plan.memory_gb(most):.0f} GB. With "
                f"`hardware.memory_gb: {gpu(name).memory_gb:g}` their cells are holes"
            )


def hours(count: float) -> str:
    return f"{count:,.0f}" if count >= 10 else f"{count:.1f}"
