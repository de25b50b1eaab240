"""The report's data: ledger, claims, figures, runs, theory, errata, cost, gathered from what is on disk.

It reads whatever there is. What is missing is a hole with its reason, what is broken is named, skipped and counted, so
that a report can always be made.
"""

import base64
import re
from collections import Counter, defaultdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pandas as pd

from clrepro.catalogue import Catalogue, papers
from clrepro.ledger import Records
from clrepro.ledger.scores import command
from clrepro.paths import RESULTS
from clrepro.report import opening, runs, tables
from clrepro.report.common import SIGNS
from clrepro.workflow import provenance


def gather(catalogue: Catalogue, ledger: pd.DataFrame, tested: list[dict], records: Records) -> dict[str, Any]:
    """The data of clrepro.report.page.render. ledger: ledger.frame; tested: the claims with their evidence."""
    theory = theory_rows(catalogue)
    content = {
        "scale": catalogue.config.scale,
        "made": {"clrepro": version("clrepro"), "commit": provenance.commit()},
        "setup": setup(catalogue),
        "rule": rule(catalogue),
        "papers": [paper(catalogue, key, ledger, tested, theory) for key in catalogue.config.papers],
        "claims": tested,
        "theory": theory,
        "runs": runs.entries(catalogue, ledger, records),
        "fill": fill(ledger),
    }
    content["cost"] = cost(content["runs"])
    content["problems"] = problems(records)
    content["state"] = opening.state(ledger, content)
    content["opening"] = opening.opening(catalogue, content)
    return content


def setup(catalogue: Catalogue) -> list[list[str]]:
    """What was run, in a few lines of name and text."""
    lines = [["Seeds", ", ".join(map(str, catalogue.config.seeds))]]
    for plan in dict.fromkeys(run.plan for run in catalogue.runs):
        lines += plan.setup(catalogue.config, [run for run in catalogue.runs if run.plan is plan])
    return lines


def rule(catalogue: Catalogue) -> list[str]:
    """How verdicts are reached, in sentences; docs/ledger.md and docs/claims.md say it in full."""
    band, alpha = catalogue.config.ledger.band, catalogue.config.ledger.alpha
    level = f"{100 - 200 * alpha:g} %"
    return [
        f"A cell is the mean over its seeds with its {level} t interval. It is reproduced if the whole interval lies "
        f"within {band:g} points of the published number (two one-sided tests at {alpha:g} each), it differs if the "
        "whole interval lies outside, and it is undecided otherwise, as with a single seed or with equal seeds.",
        "A cell is not comparable if data, encoder, training or evaluation are not the paper's: at demo and bench "
        "scale no cell is, and no difference is taken. Where an erratum names the published number, the verdict says "
        "that it is doubtful.",
        "A claim is a comparison of cells, computed seed by seed and tested with variances that the claims of the "
        f"paper share in part. It holds or fails if that is significant at {alpha:g} after Holm's correction over the "
        "paper's claims; otherwise it is undecided. Where not all its numbers compare with the paper's, it is said to "
        "be seen, or its opposite is: that describes the runs of this scale and is no verdict on the paper.",
        "A tolerance that the paper does not state is ours, and the claim's note says so.",
    ]


def paper(catalogue: Catalogue, key: str, ledger: pd.DataFrame, tested: list[dict], theory: list[dict]) -> dict:
    about = papers.load(key, "published")["paper"]
    errata = papers.load(key, "errata")
    own = ledger[ledger["paper"] == key]
    results = own[own["verdict"] != "not a result"]
    return {
        "key": key,
        **{name: about.get(name) for name in ("title", "authors", "venue", "year", "code")},
        "verdicts": dict(Counter(results["verdict"])),
        "claims": dict(Counter(claim["verdict"] for claim in tested if claim["paper"] == key)),
        "theory": dict(Counter(row["verdict"] for row in theory if row["paper"] == key)),
        "tables": [table(catalogue, key, name, part) for name, part in own.groupby("table", sort=False)],
        "figures": pictures(catalogue, key),
        "errata": errata.get("errata", []),
        "inconsistencies": errata.get("known_inconsistencies", []),
        "choices": errata.get("choices", []),
    }


def table(catalogue: Catalogue, key: str, name: str, part: pd.DataFrame) -> dict:
    """A table in the paper's layout; printed differences stay in the ledger."""
    spec = papers.all_tables(key)[name]
    part = part[~part["metric"].str.startswith("delta")]
    whole = next((one for one in catalogue.every_table if (one.paper, one.name) == (key, name)), None)
    sentences = tables.caption(catalogue, whole)[2:] if whole and whole.runs else []
    written = [file for file in (catalogue.files.of_table(whole) if whole else ()) if file.is_file()]
    return {
        "id": name,
        "caption": spec["caption"],
        "kind": papers.kind(spec),
        "notes": spec.get("notes") or [],
        "protocol": [sentence.replace("`", "") for sentence in sentences if sentence],
        "parts": [block(rows) for rows in tables.parts(part)],
        "files": {file.suffix[1:]: f"tables/{key}/{file.name}" for file in written},
    }


def block(rows: pd.DataFrame) -> dict:
    """Rows that have the same columns."""
    columns = list(dict.fromkeys(zip(rows["column"], rows["metric"], strict=True)))
    lines = []
    for name, group in rows.groupby("row", sort=False):
        cells = {(row["column"], row["metric"]): cell(row) for row in group.to_dict("records")}
        lines.append({"row": name, "cells": [cells.get(column) for column in columns]})
    return {"columns": [{"column": column, "metric": metric} for column, metric in columns], "rows": lines}


def cell(row: dict) -> dict:
    clean = {name: None if not isinstance(value, str) and pd.isna(value) else value for name, value in row.items()}
    words = clean["published"] if clean["verdict"] == "not a result" else ""
    return {
        "id": "/".join(row[name] for name in ("paper", "table", "row", "column", "metric")),
        "published": None if words else clean["published"],
        "std": clean["ours_std"],
        "ci": None if clean["ci_low"] is None else [clean["ci_low"], clean["ci_high"]],
        "runs": row["runs"].split(),
        "text": words,
        # where the two do not compare, their difference says nothing
        "difference": clean["difference"] if clean["verdict"] in SIGNS else None,
        **{name: clean[name] for name in ("published_std", "decimals", "ours", "seeds", "verdict", "note", "fill")},
    }


def pictures(catalogue: Catalogue, key: str) -> list[dict]:
    """Every figure of a paper in its order: drawn, or why it is not."""
    folder = RESULTS / catalogue.config.scale / "figures" / key
    plans = papers.load(key, "experiments")
    asked = {figure.name for figure in catalogue.figures if figure.paper == key}
    found = {}
    for name, entry in plans.get("simulations", {}).items():
        found[name] = picture(
            folder, name, entry["shows"], "not made yet", command(catalogue.config.scale, f"{key}_{name}")
        )
    for name, entry in plans.get("figures", {}).items():
        if name in asked:
            why, fill = "not made yet", command(catalogue.config.scale, f"{key}_{name}")
        else:
            why, fill = f"its runs are not asked for: put {key}/{name} under `figures` of the configuration", ""
        found[name] = picture(folder, name, entry["shows"], why, fill)
    for name, why in plans.get("not_regenerated", {}).items():
        found[name] = picture(folder, name, "", why, "")
    for name, why in plans.get("not_run", {}).items():
        if name.startswith("figure"):
            found[name] = picture(folder, name, "", why, "")
    described = {figure["id"]: figure["plots"] for figure in papers.load(key, "published").get("figures", [])}
    for name, entry in found.items():
        entry["shows"] = entry["shows"] or described.get(name, "")
        entry["alt"] = f"{name.replace('_', ' ')} of {key}: {entry['shows']}"
    return [found[name] for name in sorted(found, key=natural)]


def picture(folder: Path, name: str, shows: str, why: str, fill: str) -> dict:
    png = folder / f"{name}.png"
    there = png.is_file()
    data = base64.b64encode(png.read_bytes()).decode() if there else ""
    files = {suffix: f"figures/{folder.name}/{name}.{suffix}" for suffix in ("csv", "svg", "png")}
    return {
        "id": name,
        "shows": shows,
        "image": f"data:image/png;base64,{data}" if there else "",
        "files": {suffix: file for suffix, file in files.items() if (folder / f"{name}.{suffix}").is_file()},
        "missing": "" if there else why,
        "fill": "" if there else fill,
    }


def natural(name: str) -> list:
    """Sorts figure_2 before figure_10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]


def theory_rows(catalogue: Catalogue) -> list[dict]:
    file = catalogue.files.theory[0]
    if not file.is_file():
        return []
    return pd.read_csv(file, keep_default_na=False).to_dict("records")


def fill(ledger: pd.DataFrame) -> list[dict]:
    """How to fill holes, seeds that are missing included: a command, or why there is none, with the number of cells."""
    holes = ledger[(ledger["verdict"] == "missing") | (ledger["fill"] != "")]
    groups: dict[tuple[str, str], int] = Counter(zip(holes["fill"], holes["note"].str.split(";").str[0], strict=True))
    ordered = sorted(groups.items(), key=lambda item: (not item[0][0], -item[1]))
    return [{"command": line, "cells": count, "why": why} for (line, why), count in ordered]


def cost(entries: dict[str, dict]) -> dict:
    """Seconds and watt-hours of the trainings, by objective."""
    trained = [entry for entry in entries.values() if entry["seconds"] is not None]
    groups: dict[str, list[dict]] = defaultdict(list)
    for entry in trained:
        groups[entry["objective"]].append(entry)

    def energy(part: list[dict]) -> float | None:
        known = [entry["energy_wh"] for entry in part if entry["energy_wh"] is not None]
        return round(sum(known), 3) if known else None

    rows = [
        {
            "objective": name,
            "runs": len(part),
            "seconds": sum(one["seconds"] for one in part),
            "energy_wh": energy(part),
        }
        for name, part in groups.items()
    ]
    notes = ["Training alone, from its last start; embedding, probes and start-up are not in it."]
    without = sum(entry["energy_wh"] is None for entry in trained)
    if without:
        notes.append(
            f"Energy is not known for {without} of {len(trained)} runs: the machine has no counter that it may read."
        )
    return {
        "seconds": sum(row["seconds"] for row in rows),
        "energy_wh": energy(trained),
        "runs": len(trained),
        "rows": sorted(rows, key=lambda row: -row["seconds"]),
        "notes": notes,
    }


def problems(records: Records) -> list[dict]:
    """Files that were skipped because they are broken."""
    remedy = "delete it and run the workflow again"
    return [{"file": str(file), "what": what, "remedy": remedy} for file, what in sorted(records.problems.items())]
