"""What pages may quote of the reference results, by name: claims, cells and counts, read from results/reference alone.

kept.<scale> claim <paper>/<claim> <verdict, estimate, interval, seeds or says>
kept.<scale> cell <paper>/<table>/<row>/<column>/<metric> <ours, spread, published or verdict>
kept.<scale> claims <paper or all> <verdict, decided or tested>
kept.theory <paper or all> <verdict or checks>
kept.theory <paper>/<where>: how many of the checks of that place fail
kept.theory <paper>/<where>/<statement>: what that check saw first
"""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

from clrepro.ledger.comparison import ADDRESS, read_cells
from clrepro.ledger.verdicts import AT_THIS_SCALE, CLAIM_VERDICTS, ON_THE_PAPER
from clrepro.paths import ROOT
from clrepro.report import reference

DECIDED = (*ON_THE_PAPER, *AT_THIS_SCALE)
ALL = "all"


def values(folder: Path = ROOT / reference.FOLDER) -> dict[str, Callable[[], str]]:
    """Every name with its text."""
    found: dict[str, Callable[[], str]] = {}
    scales = sorted(file.parent for file in folder.glob(f"*/{reference.CLAIMS}"))
    for scale in scales:
        claims = pd.read_csv(scale / reference.CLAIMS, keep_default_na=False, na_values={"estimate": [""]})
        for row in claims.to_dict("records"):
            for field, text in of_claim(row).items():
                found[f"kept.{scale.name} claim {row['paper']}/{row['claim']} {field}"] = partial(str, text)
        for paper, word, count in counts(claims, CLAIM_VERDICTS):
            found[f"kept.{scale.name} claims {paper} {word}"] = partial(str, count)
        for paper in (ALL, *claims["paper"].unique()):
            verdicts = claims["verdict"][claims["paper"].eq(paper) | (paper == ALL)]
            found[f"kept.{scale.name} claims {paper} decided"] = partial(str, verdicts.isin(DECIDED).sum())
            found[f"kept.{scale.name} claims {paper} tested"] = partial(str, len(verdicts))
        for row in read_cells(scale / reference.CELLS).to_dict("records"):
            for field, text in of_cell(row).items():
                address = "/".join(row[name] for name in ADDRESS)
                found[f"kept.{scale.name} cell {address} {field}"] = partial(str, text)
    return found | of_theory(pd.read_csv(scales[0] / "theory.csv", keep_default_na=False))


def of_theory(frame: pd.DataFrame) -> dict[str, Callable[[], str]]:
    found = {
        f"kept.theory {paper} {word}": str(count) for paper, word, count in counts(frame, frame["verdict"].unique())
    }
    for paper in (ALL, *frame["paper"].unique()):
        found[f"kept.theory {paper} checks"] = str((frame["paper"].eq(paper) | (paper == ALL)).sum())
    for (paper, where), rows in frame.groupby(["paper", "where"]):
        failing = int(rows["verdict"].eq("fails").sum())
        found[f"kept.theory {paper}/{where}"] = f"{failing} of {len(rows)} checks fail"
        for row in rows.itertuples():
            found[f"kept.theory {paper}/{where}/{row.statement}"] = row.detail.partition(";")[0]
    collapsed = "kept.theory oar2024/theorem 3.1/equal embeddings are a local minimum of InfoNCE"
    found["kept.theory eigenvalue at collapse"] = re.search(
        r"tau 0\.05: .*?smallest eigenvalue (-[\d.]+)", found[collapsed]
    )[1]
    return {name: partial(str, text) for name, text in found.items()}


def counts(frame: pd.DataFrame, words: tuple[str, ...]) -> list[tuple[str, str, int]]:
    """(paper or all, verdict, how many lines)."""
    return [
        (paper, word, int((frame["verdict"].eq(word) & (frame["paper"].eq(paper) | (paper == ALL))).sum()))
        for paper in (ALL, *frame["paper"].unique())
        for word in words
    ]


def of_claim(row: dict) -> dict[str, str]:
    """What may be said of a claim; its numbers stand for its weakest comparison, or for the one that refutes it."""
    estimate, low, high = (number(row[name]) for name in ("estimate", "ci_low", "ci_high"))
    interval = f"{low} to {high}" if low and high else "no interval"
    return {
        "verdict": row["verdict"],
        "estimate": estimate,
        "interval": interval,
        "seeds": row["seeds"],
        "says": f"{row['verdict']}, {estimate} ({interval})",
    }


def of_cell(row: dict) -> dict[str, str]:
    places = int(row["decimals"])
    spread = "" if pd.isna(row["ours_std"]) else f" ± {row['ours_std']:.{places}f}"
    return {
        "ours": f"{row['ours']:.{places}f}",
        "spread": f"{row['ours']:.{places}f}{spread}",
        "published": "none" if pd.isna(row["published"]) else f"{row['published']:.{places}f}",
        "verdict": row["verdict"],
    }


def number(value: float | str) -> str:
    """Three significant digits, as a page shows them; empty where there is none."""
    if value == "" or pd.isna(value):
        return ""
    rounded = float(f"{float(value):.3g}")
    return f"{rounded:.0f}" if abs(rounded) >= 100 else f"{rounded:g}"
