"""The outcome of grid searches, and the learning rates that sweeps select."""

from pathlib import Path

import pandas as pd
import yaml

from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
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


def write_choice(catalogue: Catalogue, file: Path) -> str:
    """Write the learning rate of each objective with the highest STS-B dev as an overlay; what was chosen, in lines.

    With several backbones the mean over them selects; of equal scores the smaller rate.
    """
    if not catalogue.sweeps:
        raise UserError("this configuration asks for no sweep: set `sentence.learning_rate_sweep`")
    parts = []
    for name in catalogue.sweeps:
        table = catalogue.files.grid(name)
        if not table.is_file():
            raise UserError(f"{table} is missing; run the sweeps first: snakemake sweeps --cores all ...")
        parts.append(pd.read_csv(table).assign(objective=name.split("/")[1].split("@")[0]))
    scores = pd.concat(parts).groupby(["objective", "learning_rate"], sort=False)["stsb_dev"].mean().unstack()
    scores = scores[sorted(scores.columns)]
    chosen = {str(name): float(rate) for name, rate in scores.idxmax(axis=1).items()}
    runs = [run for several in catalogue.sweeps.values() for run in several]
    rates = {run.recipe.learning_rate for run in runs}
    said = "\n".join(f"#   {line}" for line in scores.round(2).to_string().splitlines())
    head = f"# By `clrepro sweep`: STS-B dev by learning rate, with seed {runs[0].seed} alone, and the best ones.\n"
    body = yaml.safe_dump({"sentence": {"training": {"learning_rates": chosen}}}, sort_keys=True)
    write_text(file, f"{head}{said}\n{body}")
    edge = [name for name, rate in chosen.items() if rate in (min(rates), max(rates))]
    note = f"\nat the edge of the rates that were tried: {', '.join(edge)}" if edge else ""
    return f"{scores.round(2).to_string()}\n{file}{note}"
