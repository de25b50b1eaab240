"""A report of made-up numbers beside the papers' real ones, to look at: python tests/browser/sample.py OUT.html"""

import random
import sys
from collections import Counter
from pathlib import Path

from clrepro.catalogue import papers
from clrepro.ledger import published
from clrepro.report.page import render

SEEDS = (42, 43, 44)
BACKBONES = ("BERT_base", "BERT_large", "RoBERTa_base", "RoBERTa_large")
OBJECTIVES = ("infonce", "align_uniform", "dcl", "dcl_plus", "mpt", "met", "mat", "modified_mhe", "macl")
TRAINABLE = {"nie2023": 0.9, "li2024": 0.8, "huang2023": 0.25, "oar2024": 0.0}  # share of a paper's cells with runs
PICTURE = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 320 200'%3E"
    "%3Crect width='320' height='200' fill='white'/%3E"
    "%3Cpath d='M30 20V170H300M30 160C90 150 120 40 290 30' fill='none' stroke='%230072b2'"
    " stroke-width='2'/%3E%3C/svg%3E"
)


def sample(chance: random.Random | None = None) -> dict:
    """Data by the report's contract; the same for the same generator."""
    chance = chance or random.Random(0)
    runs = {run["id"]: run for run in made_runs(chance)}
    shown = [paper(key, runs, chance) for key in papers.paper_keys()]
    claims = [claim for entry in shown for claim in made_claims(entry, chance)]
    theory = [check for entry in shown for check in made_theory(entry["key"], chance)]
    for entry in shown:
        cells = [cell for table in entry["tables"] for cell in cells_of(table)]
        entry["verdicts"] = dict(Counter(cell["verdict"] for cell in cells))
        entry["claims"] = dict(Counter(claim["verdict"] for claim in claims if claim["paper"] == entry["key"]))
        entry["theory"] = dict(Counter(check["verdict"] for check in theory if check["paper"] == entry["key"]))
    for run in runs.values():
        del run["id"]
    seconds = sum(run["seconds"] for run in runs.values())
    rows = []
    for name in OBJECTIVES:
        own = [run["seconds"] for run in runs.values() if run["objective"] == name]
        rows.append({"objective": name, "runs": len(own), "seconds": sum(own), "energy_wh": None})
    return {
        "scale": "demo",
        "opening": {"judges": True, "note": "These numbers are made up, and so are their verdicts."},
        "made": {"clrepro": "0.1.0", "commit": "abc1234"},
        "setup": [["Seeds", "42, 43, 44, listed in the configuration"], ["Encoders", "two layers x 64"]],
        "rule": [
            "A number of ours is the mean over the seeds, with the 95 % t interval of that mean.",
            "A claim holds if every contrast that it consists of passes its bound with its whole interval.",
        ],
        "papers": shown,
        "claims": claims,
        "theory": theory,
        "runs": runs,
        "problems": [],
        "fill": [
            {"command": "snakemake --cores all --configfile config/paper.yaml", "cells": 412, "why": "needs images"},
            {"command": "clrepro reproduce huang2023/table_4", "cells": 12, "why": "graphs are not part of the demo"},
        ],
        "cost": {"seconds": seconds, "energy_wh": None, "runs": len(runs), "rows": rows, "notes": ["CPU, 2 cores."]},
    }


def made_runs(chance: random.Random):
    for backbone in BACKBONES:
        for objective in OBJECTIVES:
            for seed in SEEDS:
                folder = f"sentence/{backbone}/{objective}/released-temperature0.05-lr0.001-b32-3fb35261/seed{seed}"
                score = chance.uniform(0.4, 0.7)
                yield {
                    "id": folder,
                    "objective": objective,
                    "variant": "released",
                    "backbone": backbone,
                    "seed": seed,
                    "parameters": {"temperature": 0.05},
                    "training": {"learning_rate": 1e-3, "batch_size": 32, "epochs": 0.25, "precision": "fp32"},
                    "data": {"corpus": {"source": "demo-corpus@1", "lines": None}, "tasks": "demo-senteval@1"},
                    "encoder": {"kind": "scratch", "layers": 2, "hidden_size": 64},
                    "code": "14990a3ab6f908bf",
                    "stale": objective == "mat" and seed == 44,
                    "commit": "abc1234",
                    "environment": {"python": "3.11.7", "torch": "2.11.0"},
                    "hardware": {"device": "cpu", "processes": 1},
                    "seconds": chance.uniform(4, 9),
                    "energy_wh": None,
                    "steps": 63,
                    "best_step": 60,
                    "best_score": score,
                    "curves": {
                        "stsb_dev": [[20, score - 0.1], [40, score - 0.02], [60, score]],
                        "loss": [[20, 0.25], [40, 0.025], [60, 0.021]],
                    },
                    "model": {"path": f"runs/{folder}/model", "sha256": "bba735fa" * 8},
                    "record": f"runs/{folder}/record.json",
                    "scores": {"sts/Avg": 100 * score, "transfer/Avg": 60.0},
                    "cells": [],
                }


def paper(key: str, runs: dict[str, dict], chance: random.Random) -> dict:
    about, errata = papers.load(key, "published")["paper"], papers.load(key, "errata")
    printed = published(key).set_index(["table", "row", "column", "metric"])[["value", "std", "decimals"]]
    numbers = {place: tuple(entry) for place, entry in zip(printed.index, printed.to_numpy(object), strict=True)}
    figures = papers.load(key, "published")["figures"]
    return {
        **{name: about[name] for name in ("title", "authors", "venue", "year", "code")},
        "key": key,
        "tables": [
            table(key, name, spec, numbers, runs, chance) for name, spec in papers.published_tables(key).items()
        ],
        "figures": [
            {
                "id": figure["id"],
                "shows": figure["plots"],
                "image": PICTURE if place % 3 == 0 else "",
                "alt": figure["plots"],
                "files": {"csv": f"figures/{key}/{figure['id']}.csv"} if place % 3 == 0 else {},
                "missing": "It needs training runs that this scale does not have." if place % 3 else "",
                "fill": f"clrepro reproduce {key}/{figure['id']}" if place % 3 else "",
            }
            for place, figure in enumerate(figures)
        ],
        "errata": errata["errata"],
        "inconsistencies": errata["known_inconsistencies"],
        "choices": errata["choices"],
    }


def table(key, name, spec, numbers, runs, chance) -> dict:
    """A table in the paper's layout: a part for every set of columns."""
    formulas = spec["metric"] == "formula"
    kind = "formulas" if formulas else "settings" if spec["metric"] == "hyperparameter value" else "results"
    parts: dict[tuple, list] = {}
    for row in spec["rows"]:
        entries = row["values"]
        columns = [(column, metric) for column, entry in entries.items() for metric in metrics_of(entry)]
        cells = [cell(key, name, row, place, numbers, kind, runs, chance) for place in columns]
        parts.setdefault(tuple(columns), []).append({"row": row["id"], "cells": cells})
    return {
        "id": name,
        "caption": spec["caption"],
        "kind": kind,
        "notes": spec.get("notes", []),
        "protocol": ["SentEval as in SimCSE's fork.", "Selected on STS-B dev. Seeds: 42, 43, 44."],
        "parts": [
            {"columns": [{"column": column, "metric": metric} for column, metric in columns], "rows": rows}
            for columns, rows in parts.items()
        ],
        "files": {suffix: f"tables/{key}/{name}.{suffix}" for suffix in ("csv", "md", "tex")},
    }


def metrics_of(entry) -> list[str]:
    return list(entry) if isinstance(entry, dict) and "mean" not in entry else ["value"]


def cell(key, name, row, place, numbers, kind, runs, chance) -> dict:
    column, metric = place
    value, std, decimals = numbers.get((name, row["id"], column, metric), (None, None, None))
    made = {
        "id": f"{key}/{name}/{row['id']}/{column}/{metric}",
        "published": value,
        "published_std": std,
        "decimals": decimals,
        "verdict": "not a result",
        **dict.fromkeys(("ours", "std", "ci", "difference")),
        **{"seeds": 0, "note": "", "fill": "", "runs": [], "text": ""},
    }
    if value is None:
        return made | {"text": str(row["values"][column])}
    if kind != "results":
        return made
    if chance.random() > TRAINABLE[key]:
        return made | {"verdict": "missing", "fill": f"clrepro reproduce {key}/{name}", "note": "not run at this scale"}
    ours, spread = value - abs(chance.gauss(0, 0.3 * value)), abs(chance.gauss(0, 0.9))
    used = [run for run in runs if run.startswith(f"sentence/{chance.choice(BACKBONES)}/{chance.choice(OBJECTIVES)}/")]
    for run in used:
        runs[run]["cells"].append(made["id"])
    weights = (1, 1, 2, 9, 1)
    verdicts = ("reproduced", "differs", "undecided", "not comparable", "published value doubtful")
    return made | {
        "ours": ours,
        "std": spread,
        "ci": [ours - 2.48 * spread, ours + 2.48 * spread],
        "seeds": 3,
        "difference": ours - value,
        "verdict": chance.choices(verdicts, weights)[0],
        "runs": used,
    }


def cells_of(table: dict) -> list[dict]:
    return [cell for part in table["parts"] for row in part["rows"] for cell in row["cells"] if cell]


def made_claims(entry: dict, chance: random.Random):
    cells = [cell for table in entry["tables"] for cell in cells_of(table) if cell["verdict"] != "not a result"]
    for place in range(min(24, len(cells) - 1)):
        pair = chance.sample(cells, 2)
        done = all(cell["runs"] for cell in pair)
        known = ("holds", "fails", "seen", "opposite", "undecided")
        verdict = chance.choices(known, (5, 2, 2, 1, 4))[0] if done else "missing"
        middle = {"holds": 2.1, "fails": -1.9, "seen": 2.4, "opposite": -1.2, "undecided": 0.3}.get(verdict)
        evidence = []
        for label in ("", " on the other backbone")[: 1 + place % 2]:
            estimate = None if middle is None else middle + chance.uniform(-0.5, 0.5)
            names = [cell["id"].removeprefix(f"{entry['key']}/") for cell in pair]
            evidence.append(
                {
                    "name": f"{names[0].split('/')[1]} - {names[1].split('/')[1]}{label}",
                    "estimate": estimate,
                    "ci_low": estimate and estimate - 1.2,
                    "ci_high": estimate and estimate + 1.2,
                    "low": 0,
                    "high": None,
                    "seeds": 3 if done else 0,
                    "published": pair[0]["published"] - pair[1]["published"],
                    "verdict": verdict,
                    "why": "the interval crosses the bound" if verdict == "undecided" else "",
                    "cells": names,
                    "runs": [run for cell in pair for run in cell["runs"]],
                }
            )
        yield {
            "paper": entry["key"],
            "claim": f"claim_{place}",
            "statement": f"{pair[0]['id'].split('/')[2]} scores higher than {pair[1]['id'].split('/')[2]} on every "
            "backbone that the paper trains, by more than the spread over seeds.",
            "quote": "the former outperforms the latter by a large margin ... on all four backbones",
            "place": f"section 4.{1 + place % 3}, {pair[0]['id'].split('/')[1].replace('_', ' ')}",
            "form": "greater",
            "scope": f"{len(evidence)} of {len(evidence)}" if verdict == "holds" else "",
            **{name: evidence[0][name] for name in ("estimate", "ci_low", "ci_high", "seeds", "published")},
            "effect": middle,
            "verdict": verdict,
            "p_holds": None if middle is None else 0.004,
            "p_fails": None if middle is None else 0.998,
            "note": "",
            "evidence": evidence,
        }


def made_theory(key: str, chance: random.Random):
    for place, erratum in enumerate(papers.load(key, "errata")["errata"]):
        for form in ("printed", "corrected"):
            yield {
                "paper": key,
                "where": erratum["where"],
                "form": form,
                "statement": erratum["printed"],
                "verdict": "holds up to a factor" if place % 9 == 4 else "fails" if form == "printed" else "holds",
                "detail": f"largest relative error of {chance.randint(2, 16)}00 cases below 1e-14",
                "checked": "autograd, 200 random batches of 8 x 32, seed 0",
            }


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(render(sample()), "utf-8")
