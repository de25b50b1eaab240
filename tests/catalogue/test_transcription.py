"""Numbers and settings of the papers against a second transcription, made from their texts without sight of the first.

tests/transcription has the numbers of every table of results (csv) and the settings of the runs behind them (yaml),
each with its place in the paper; `facts` are those of released codes.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from clrepro import objectives
from clrepro.catalogue import papers
from clrepro.catalogue.tables import Cell
from clrepro.ledger import published
from clrepro.modalities.run import Run

FOLDER = Path(__file__).parent.parent / "transcription"
# printed in two halves, one below the other
HALVES = {("huang2023", "table_4"): 3, ("huang2023", "table_5"): 4}


def printed_numbers(paper: str) -> dict[str, list[dict[str, str]]]:
    """The rows of a paper's csv by table, in the order of print; of a table in halves, row by row."""
    found: dict[str, list[dict[str, str]]] = {}
    with open(FOLDER / f"{paper}_numbers.csv", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            found.setdefault(row["table"], []).append(row)
    for (of, table), width in HALVES.items():
        if of == paper:
            half = [found[table][start : start + width] for start in range(0, len(found[table]), width)]
            found[table] = [*half[0], *half[2], *half[1], *half[3]]
    return found


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_every_number_of_every_table_is_that_of_the_second_transcription(paper):
    frame = published(paper)
    frame = frame[frame["kind"].isin(["results", "quoted"])]
    theirs = printed_numbers(paper)
    assert set(frame["table"]) == set(theirs)
    for table, part in frame.groupby("table"):
        gains = part["metric"].str.startswith("delta")
        assert part[~gains]["value"].tolist() == [float(row["value"]) for row in theirs[table]], table
        assert part[gains]["value"].tolist() == [float(row["delta"]) for row in theirs[table] if row["delta"]], table
        assert part["std"].dropna().tolist() == [float(row["std"]) for row in theirs[table] if row["std"]], table


# where our rows, columns and settings have other names
ROWS = {
    "w/ MACL": "MACL", "(a)": "a", "(b)": "b", "(c)": "c", "BarlowTwins": "BT", "OAR-BarlowTwins": "OAR-BT",
    "VICreg": "VICReg", "OAR-VICreg": "OAR-VICReg", "SimCSE-RoBERTa": "RoBERTa SimCSE", "SimCSE-BERT": "BERT SimCSE",
    "SimCSE-RoBERTa (repro)": "RoBERTa SimCSE reproduced", "SimCSE-BERT (repro)": "BERT SimCSE reproduced",
    "SimCSE-RoBERTa w/ MACL": "RoBERTa MACL", "SimCSE-BERT w/ MACL": "BERT MACL",
}  # fmt: skip
SENTENCES = {"STS task SimCSE": "SimCSE STS", "STS task SimCSE-BERT": "SimCSE STS", "STS task w/ MACL": "MACL STS",
             "Transfer task SimCSE": "SimCSE transfer", "Transfer task SimCSE-BERT": "SimCSE transfer",
             "Transfer task w/ MACL": "MACL transfer"}  # fmt: skip
COLUMNS = {"NCII": "NCI1", "10% Labels": "10%", "50% Labels": "50%", "100% Labels": "100%"}
NAMES = {"r": "ratio", "lambda": "lam", "evaluation_steps": "evaluate_every", "gradient_clip": "clip"}
ONE_OF = {"batch_sizes": "batch_size", "epochs": "epochs", "queues": "queue"}  # a column names which
SENTEVAL_FOLDS = 10  # of the protocol `test`, which tests/evaluation/senteval checks
# what the plain trainers of tests/modalities/*/test_every_setting.py have as well
FIXED = {
    ("sentence", "schedule"): "linear",
    ("sentence", "warmup_epochs"): 0,
    ("sentence", "learning_rate_rule"): "fixed",
    ("graph", "learning_rate_rule"): "fixed",
}
NO_SETTING = {  # why these are compared with no setting of a run
    "seeds": "a count, or those of the released script; the configuration has its own",
    "sentences": "the corpus is checked by its source",
    "embedding": "follows from the architecture; 512 is not a ResNet-50's",
    "objective": "a name",
    "similarity": "the objective's own",
    "anchors": "the objective's own",
    "augmentation": "see tests/modalities/image/test_augmentations.py",
    "augmentations": "likewise",
    "selection": "the column says it",
    "symmetric": "these objectives are symmetric themselves",
    "learning_rate_range": "the sweep's points lie in it",
}


def entries(paper: str) -> Iterator[tuple[str, str, str | None, dict[str, Any]]]:
    """(table, row, column or backbone, settings) of every run in a paper's transcription."""
    content = yaml.safe_load((FOLDER / f"{paper}_settings.yaml").read_text("utf-8"))
    for table, rows in content.items():
        for row, parts in rows.items():
            facts = parts.get("facts", {})
            for place in [place for place in parts if place not in ("all", "facts")] or [None]:
                known = facts if "all" in parts else facts.get(place, {})  # of all columns, or by backbone
                yield table, row, place, merged(parts.get("all", {}), known, parts.get(place, {}))


def merged(*parts: dict[str, Any]) -> dict[str, Any]:
    """Later ones win, key by key."""
    found: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            both = isinstance(value, dict) and isinstance(found.get(key), dict)
            found[key] = merged(found[key], value) if both else value
    return found


def ours(paper: str, table: str, row: str, place: str | None) -> tuple[str, str | None]:
    """Our (row, column) of a transcribed run; None: all columns."""
    if paper == "li2024" and table in ("table_3", "table_4"):
        return f"{place} {row}", None
    if table == "table_5" and paper == "li2024":
        first, _, change = row.partition(" ")
        return first, change.replace(" ", "")
    if paper == "huang2023":
        if table in ("table_3", "table_B4"):
            return SENTENCES[row], None
        if table == "table_7":
            return place.replace("w/o", "without").replace("w/", "with"), None
        if table == "table_8":
            return f"{row.split()[0].replace('_0', '0')}={place}", None
        if table == "table_B2":
            return place.replace("alpha ", "alpha=").replace("A_0 ", "A0="), None
    return ROWS.get(row, row), COLUMNS.get(place, place)


def differences(run: Run, column: str, wanted: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    """What a run has otherwise than the transcription: {setting: (ours, theirs)}."""
    settings, found = run.settings, {}
    for key, value in wanted.items():
        if key in NO_SETTING:
            continue
        name = NAMES.get(key, key)
        if isinstance(value, list) and key in ONE_OF:
            name, value = ONE_OF[key], next((one for one in value if str(one) == column), value)
            held = settings[name]
        elif key == "backbone":
            held, value = backbone_of(run), value
        elif key == "encoder":
            held = {"layers": run.backbone.identity["layers"], "hidden": run.backbone.identity["width"]}
        elif key == "projector" and run.modality == "graph":
            continue  # the head has the encoder's own width: tests/modalities/graph/test_encoder.py
        elif key == "projector":
            made = settings["projector"] or {}
            held = {part: made.get(part) for part in value} if value != "none" else made or "none"
        elif key == "k":
            held = run.evaluation["knn"]["k"]
        elif key == "folds":
            held = run.evaluation["svm"]["folds"] if run.modality == "graph" else SENTEVAL_FOLDS
        elif key == "probe":
            held, value = probe_of(run, column, value)
        elif name == "lam" and run.objective == "oar":  # its own weight of anchors has that name
            held = objectives.make(run.params["base"], run.params["base_variant"]).params["lam"]
        elif name == "dropout" and run.modality == "sentence":
            held = 0.1 if settings[name] is None else settings[name]  # of the models themselves
        elif key == "dropout":
            held = 0  # encoders of molecules have none in pre-training
        elif key == "optimiser" and run.modality == "sentence":
            held = settings[name].split("_")[0]
        elif key == "pooling" and run.modality == "graph":
            held = {"gin": "sum", "gin_bonds": "mean"}[run.backbone.identity["architecture"]]
        elif name == "reweight":
            held = settings.get(name, False)
        elif name not in settings:
            held = FIXED.get((run.modality, name), "no such setting")
        else:
            held = settings[name]
        if held != value and not (isinstance(value, float) and held == pytest.approx(value, rel=1e-6)):
            found[key] = (held, value)
    return found


def backbone_of(run: Run) -> str:
    spec = run.backbone.spec
    if "source" in spec:
        return spec["source"]
    return f"{spec['architecture']}_cifar" if spec["stem"] == "cifar" else spec["architecture"]


def probe_of(run: Run, column: str, wanted: dict[str, Any]) -> tuple[Any, Any]:
    """The settings of the evaluation that fills a column, and what is wanted of them, under our names."""
    if run.modality == "sentence":
        return None, None  # SentEval's protocol: tests/evaluation/senteval
    if "classifier" in wanted:
        return run.evaluation["svm"]["costs"], wanted["C"]
    if run.modality == "graph":
        made, wanted = run.evaluation[column], {**wanted}
        del wanted["optimiser"], wanted["weight_decay"], wanted["schedule"]  # Adam at its defaults: no settings
    elif "hidden" in wanted:
        share = wanted["labelled"]
        made = run.evaluation[f"finetune_{100 * share:.0f}"]
        wanted = {key: wanted[key] for key in ("epochs", "batch_size", "hidden")} | {"share": share}
    else:
        made, wanted = run.evaluation["linear"], {key: wanted[key] for key in wanted if key != "optimiser"}
    return {key: made.get(key) for key in wanted}, wanted


# our reading of what no paper states: table, row, setting
READINGS = {
    ("table_5", "MHS + GD", "learning_rate"): "that of plain MHS (released script): one component changes at a time",
}
PLAIN = {"MHE": "mhe", "MHS": "mhs", "B": "barlow_twins", "V": "vicreg"}


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_every_setting_of_every_run_is_that_of_the_second_transcription(with_imagenet, paper):
    cells: dict[tuple[str, str], list[Cell]] = {}
    for table in with_imagenet.tables:
        for cell in table.cells:
            if table.paper == paper and "[" not in cell.column + cell.metric:  # columns of ours
                cells.setdefault((table.name, cell.row), []).append(cell)
    wrong, compared, readings = [], 0, set()
    for table, row, place, wanted in entries(paper):
        if wanted.get("quoted") is True or not wanted:
            continue
        if table == "behind_deltas":
            found = [run for run in with_imagenet.runs if (run.objective, run.backbone.key) == (PLAIN[row], place)]
            assert any(not differences(run, "", wanted) for run in found), (row, place)
            continue
        name, column = ours(paper, table, row, place)
        of = [cell for cell in cells[table, name] if column in (None, cell.column)]
        assert of, (table, row, place)
        for cell in of:
            for run in cell.runs:
                for key, pair in differences(run, cell.column, wanted).items():
                    if (table, row, key) in READINGS:
                        readings.add((table, row, key))
                    else:
                        wrong.append((table, row, place, cell.column, key, *pair))
                compared += len(wanted)
    assert wrong == []
    assert readings == (set(READINGS) if paper == "li2024" else set())
    assert compared > 500


def test_a_comparison_notices_a_setting_that_differs(with_imagenet):
    run = with_imagenet.cells["nie2023", "table_1", "L_mpt", "BERT_base", "sts"].runs[0]
    assert differences(run, "BERT_base", {"margin": 0.23, "batch_size": 64, "dropout": 0.1}) == {}
    assert differences(run, "BERT_base", {"margin": 0.24, "queue": 3, "dropout": 0.2}) == {
        "margin": (0.23, 0.24), "queue": ("no such setting", 3), "dropout": (0.1, 0.2)
    }  # fmt: skip
