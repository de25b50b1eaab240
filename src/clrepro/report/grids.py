"""The outcome of a grid search."""

from pathlib import Path

import pandas as pd

from clrepro.modalities.run import Run
from clrepro.paths import read_json, write_text


def write(runs: tuple[Run, ...], file: Path) -> None:
    """A grid search as csv: its points by their STS-B dev score, the best first."""
    rows = []
    for run in runs:
        record = read_json(run.record)
        values = {**run.params, "learning_rate": run.recipe.learning_rate, "batch_size": run.recipe.batch_size}
        rows.append({"backbone": run.backbone.key, **values, "stsb_dev": round(100 * record["best_score"], 2)})
    best_first = pd.DataFrame(rows).sort_values(["backbone", "stsb_dev"], ascending=[True, False])
    write_text(file, best_first.to_csv(index=False, lineterminator="\n"))
