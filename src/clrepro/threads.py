"""How many threads a job may use."""

import os


def count() -> int:
    """OMP_NUM_THREADS, which Snakemake sets to a rule's threads, or the cores that this process may use."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0]
    if given.isdigit() and int(given) > 0:
        return int(given)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
