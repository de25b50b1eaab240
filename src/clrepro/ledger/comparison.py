"""Two results folders held against each other: numbers beside their seeds' spread, verdicts, settings, environments."""

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from scipy import special

from clrepro.errors import UserError
from clrepro.paths import read_json

ADDRESS = ["paper", "table", "row", "column", "metric"]
COLUMNS = [
    *ADDRESS, "decimals", "ours", "ours_std", "seeds", "theirs", "theirs_std", "their_seeds", "difference", "bound",
    "state", "settings",
]  # fmt: skip
OUTSIDE, WITHIN, SAME, HERE, THERE = "outside", "within", "same", "only here", "only there"
# of these an empty field is a number that is not there; elsewhere it is an empty word
NUMBERS = {name: [""] for name in ("decimals", "ours", "ours_std", "seeds", "published", "published_std", "ci_low",
                                   "ci_high", "difference")}  # fmt: skip
ABOUT = ("environment", "hardware")  # parts of a run's record that say where it was made


@dataclass(frozen=True)
class Results:
    """cells: the filled ones, by address. claims: verdicts by paper and name. runs: records by path below runs/."""

    folder: Path
    cells: pd.DataFrame
    claims: dict[tuple[str, str], str]
    runs: dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Comparison:
    """cells: COLUMNS. verdicts: (paper, claim, here, there) where they differ. about: what else does, in words."""

    cells: pd.DataFrame
    verdicts: list[tuple[str, str, str, str]]
    about: list[str]

    @property
    def agrees(self) -> bool:
        """Whether no number lies outside the spread, and no verdict changed."""
        return not self.verdicts and not (self.cells["state"] == OUTSIDE).any()


def read(folder: Path) -> Results:
    """The results of a scale, or reference results."""
    for name in ("ledger.csv", "claims.csv"):
        if not (folder / name).is_file():
            raise UserError(f"{folder} holds no results: {name} is missing; `clrepro report` or the workflow writes it")
    cells = read_cells(folder / "ledger.csv")
    cells = cells[cells["ours"].notna()].set_index(ADDRESS)
    claims = pd.read_csv(folder / "claims.csv")
    verdicts = {(row.paper, row.claim): row.verdict for row in claims.itertuples() if row.verdict != "missing"}
    return Results(folder, cells, verdicts, runs_of(folder))


def read_cells(file: Path) -> pd.DataFrame:
    """A ledger; rows and columns are called as papers call them, by numbers as well."""
    return pd.read_csv(file, dtype=dict.fromkeys(ADDRESS, str), keep_default_na=False, na_values=NUMBERS)


def runs_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Records by run: the lines of runs.jsonl, or the records themselves."""
    if (folder / "runs.jsonl").is_file():
        lines = (folder / "runs.jsonl").read_text("utf-8").splitlines()
        return {entry["run"]: entry for entry in map(json.loads, lines)}
    files = sorted((folder / "runs").rglob("record.json"))
    return {str(file.parent.relative_to(folder / "runs")): read_json(file) for file in files}


def compare(ours: Results, theirs: Results, alpha: float = 0.05) -> Comparison:
    """Hold ours against theirs; alpha: the probability that any cell is called outside although nothing differs."""
    both = [where for where in ours.cells.index if where in theirs.cells.index]
    rows = [beside(where, ours, theirs, alpha / max(1, len(both))) for where in both]
    alone = [(ours, HERE, where) for where in ours.cells.index if where not in theirs.cells.index]
    alone += [(theirs, THERE, where) for where in theirs.cells.index if where not in ours.cells.index]
    for side, state, where in alone:
        cell, name = side.cells.loc[where], "ours" if state == HERE else "theirs"
        place = dict(zip(ADDRESS, where, strict=True))
        rows.append({**place, "decimals": cell["decimals"], name: cell["ours"], "state": state, "settings": ""})
    known = ours.claims.keys() & theirs.claims.keys()
    changed = [(*key, ours.claims[key], theirs.claims[key]) for key in sorted(known)
               if ours.claims[key] != theirs.claims[key]]  # fmt: skip
    return Comparison(pd.DataFrame(rows, columns=COLUMNS), changed, surroundings(ours, theirs))


def beside(where: tuple[str, ...], ours: Results, theirs: Results, alpha: float) -> dict[str, Any]:
    """One cell of both: the difference, and the bound that it keeps with probability 1 - alpha if nothing differs.

    The bound is Welch's, from the spread of the seeds on both sides; where a side tells of no spread, the last printed
    digit.
    """
    mine, other = ours.cells.loc[where], theirs.cells.loc[where]
    difference = float(mine["ours"] - other["ours"])
    bound = welch([(side["ours_std"], side["seeds"]) for side in (mine, other)], alpha)
    if bound is None:
        bound = 10.0 ** -int(mine["decimals"])
    state = SAME if difference == 0 else WITHIN if abs(difference) <= bound + 1e-9 else OUTSIDE
    return {
        **dict(zip(ADDRESS, where, strict=True)),
        "decimals": int(mine["decimals"]),
        **{"ours": mine["ours"], "ours_std": mine["ours_std"], "seeds": int(mine["seeds"])},
        **{"theirs": other["ours"], "theirs_std": other["ours_std"], "their_seeds": int(other["seeds"])},
        **{"difference": round(difference, 6), "bound": float(f"{bound:.4g}"), "state": state},
        "settings": "; ".join(settings_apart(runs_behind(mine, ours), runs_behind(other, theirs))),
    }


def welch(sides: list[tuple[float, int]], alpha: float) -> float | None:
    """The largest difference of two means, from (standard deviation, seeds) of each, that chance explains."""
    if any(pd.isna(std) or std == 0 or seeds < 2 for std, seeds in sides):
        return None
    parts = [std**2 / seeds for std, seeds in sides]
    freedom = sum(parts) ** 2 / sum(part**2 / (seeds - 1) for part, (_, seeds) in zip(parts, sides, strict=True))
    return float(special.stdtrit(freedom, 1 - alpha / 2)) * math.sqrt(sum(parts))


def runs_behind(cell: pd.Series, side: Results) -> list[dict[str, Any]]:
    return [side.runs[name] for name in cell["runs"].split() if name in side.runs]


def settings_apart(mine: list[dict], others: list[dict]) -> list[str]:
    """What the identities of two cells' runs differ in, as `training.learning_rate 0.001, there 0.0003`."""
    found = {}
    for name in sorted({*values(mine), *values(others)}):
        here, there = values(mine).get(name, set()), values(others).get(name, set())
        if here != there and mine and others:
            found[name] = f"{name} {written(here)}, there {written(there)}"
    return list(found.values())


def values(runs: list[dict]) -> dict[str, set[str]]:
    """Every value of the runs' identities and code, by its dotted name."""
    found: dict[str, set[str]] = defaultdict(set)
    for run in runs:
        for name, value in flat({**run["identity"], "seed": run.get("seed")}):
            found[name].add(json.dumps(value))
    return found


def flat(part: Any, name: str = "") -> list[tuple[str, Any]]:
    if not isinstance(part, dict):
        return [(name, part)]
    return [one for key, value in part.items() for one in flat(value, f"{name}.{key}" if name else key)]


def written(found: set[str]) -> str:
    return "/".join(sorted(text.strip('"') for text in found)) or "nothing"


def surroundings(ours: Results, theirs: Results) -> list[str]:
    """Code, versions and hardware behind the runs that do not say the same on both sides."""
    sides = [defaultdict(set), defaultdict(set)]
    for found, side in zip(sides, (ours, theirs), strict=True):
        for run in side.runs.values():
            objective = (run.get("identity", {}).get("objective") or {}).get("name")
            if objective:
                found[f"code of {run['identity']['modality']} trainings with {objective}"].add(json.dumps(run["code"]))
            found["commit"].add(json.dumps(run.get("commit")))
            for part in ABOUT:
                for name, value in run.get(part, {}).items():
                    found[f"{part}: {name}"].add(json.dumps(value))
    here, there = sides
    both = [name for name in here if name in there and here[name] != there[name]]
    return [f"{name} {written(here[name])}, there {written(there[name])}" for name in both]
