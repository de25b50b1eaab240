"""The runs' records as the report shows them: settings, seed, code, machine, time, energy, curves, scores."""

from collections import defaultdict
from itertools import chain
from pathlib import PurePath
from typing import Any

import pandas as pd

from clrepro.catalogue import Catalogue
from clrepro.ledger import Records
from clrepro.ledger.scores import mean, run_id, score_of_run
from clrepro.modalities.evaluation import AVERAGE
from clrepro.modalities.run import Run


def entries(catalogue: Catalogue, ledger: pd.DataFrame, records: Records) -> dict[str, dict[str, Any]]:
    """Every run that has a record, by its id."""
    cells = defaultdict(list)
    for row in ledger[ledger["runs"] != ""].itertuples():
        for name in row.runs.split():
            cells[name].append("/".join((row.paper, row.table, row.row, row.column, row.metric)))
    every = [*catalogue.runs, *(run for table in catalogue.every_table for run in table.runs)]
    found = {}
    for run in dict.fromkeys(every):
        record = records.record(run)
        if record is not None:
            found[run_id(run)] = entry(catalogue, run, record, records, cells[run_id(run)])
    return found


def entry(catalogue: Catalogue, run: Run, record: dict, records: Records, cells: list[str]) -> dict[str, Any]:
    identity = record["identity"]
    energy = record.get("energy_wh")
    model = record.get("model", {})
    return {
        "objective": run.group,
        "variant": run.variant,
        "backbone": run.backbone.key,
        "seed": record.get("seed"),
        "parameters": {name: value for name, value in run.params.items() if value is not None},
        "training": identity["training"],
        "data": data(identity["data"]),
        "encoder": {name: portable(value) for name, value in identity["backbone"].items() if name != "corpus"},
        "code": record["code"],
        "stale": run.is_stale(record),
        "commit": record.get("commit"),
        "environment": record.get("environment", {}),
        "hardware": record.get("hardware", {"device": record.get("device", "")}),
        "seconds": record.get("seconds"),
        "energy_wh": None if not energy else round(sum(energy.values()), 4),
        "steps": record.get("steps"),
        "best_step": record.get("best_step"),
        "best_score": record.get("best_score"),
        "curves": curves(run, record, records),
        "model": {"path": portable(model.get("path", "")), "sha256": model.get("sha256", "")},
        "record": f"runs/{run_id(run)}/record.json",
        "scores": scores(catalogue, run, records),
        "cells": cells,
    }


def portable(value: Any) -> Any:
    """A path of this machine as its last part alone; anything else as it is."""
    return PurePath(value).name if isinstance(value, str) and PurePath(value).is_absolute() else value


def curves(run: Run, record: dict, records: Records) -> dict[str, list]:
    """{statistic: [[step, value], ...]} of what selection and statistics recorded."""
    found: dict[str, list] = defaultdict(list)
    shown = run.plan.curves
    for point in record.get("history", []):
        for name in shown:
            if name in point:
                found[name].append([point["step"], float(f"{point[name]:.5g}")])
    recorded = (records.statistics(run) if run.has_statistics else None) or {"rows": []}
    for step, name, value in recorded["rows"]:
        if name in shown:
            found[name].append([step, float(f"{value:.5g}")])
    return {name: found[name] for name in shown if name in found}


def data(identity: dict[str, Any]) -> dict[str, Any]:
    """The data's names and revisions; of sentences the corpus in place of its name."""
    corpus = identity.get("corpus", {})
    rest = {name: value for name, value in identity.items() if name != "corpus"}
    return {**rest, **corpus} if corpus else {name: value for name, value in rest.items() if value is not None}


def scores(catalogue: Catalogue, run: Run, records: Records) -> dict[str, float]:
    """The run's scores: of evaluations with averages of tasks as the tables take them, of others all their rows."""
    found = {}
    asked = [one for one in run.plan.evaluations if one.every_tabled_run or catalogue.is_evaluated(run, one)]
    for one in asked:
        repeated = None if one.arrays else records.repetitions(run, one)  # arrays are drawn, not read
        if repeated is None:
            continue
        averaged = {kind: score.tasks for kind, score in one.scores.items() if score.tasks and score.split == "test"}
        for kind, tasks in averaged.items():
            names = (f"{kind}/{task}" for task in (*tasks, AVERAGE))
            values = {name: score_of_run(run, name, records) for name in names}
            found |= {name: value for name, value in values.items() if value is not None}
        if not averaged:
            values = defaultdict(list)  # of an evaluation with repetitions of its own, the mean
            for task, split, metric, value in chain.from_iterable(repeated.values()):
                values[f"{task}/{metric}" if split == "test" else f"{task}_{split}/{metric}"].append(value)
            found |= {name: float(f"{mean(several):.5g}") for name, several in values.items()}
    return found
