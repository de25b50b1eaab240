"""Papers as data: published numbers, experiments that regenerate them, errata. A paper is a folder."""

from collections.abc import Iterable
from functools import cache
from typing import Any

import yaml

from clrepro.errors import UserError, unknown
from clrepro.paths import PAPERS

PARTS = ("published", "experiments", "errata", "claims")


def paper_keys() -> list[str]:
    return sorted(folder.name for folder in PAPERS.iterdir() if (folder / "published.yaml").is_file())


@cache
def load(paper: str, part: str) -> dict[str, Any]:
    """One of a paper's files: published, experiments, errata or claims; an absent one is empty."""
    if paper not in paper_keys():
        raise unknown("paper", paper, paper_keys())
    file = PAPERS / paper / f"{part}.yaml"
    if part != "published" and not file.is_file():
        return {}
    return yaml.load(file.read_text("utf-8"), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)) or {}


@cache
def published_tables(paper: str) -> dict[str, dict]:
    """A paper's tables by id; of two versions the later keeps the plain id, the earlier gets the suffix _v1."""
    found = {}
    for name, table in load(paper, "published")["tables"].items():
        if "rows" in table:
            found[name] = table
            continue
        for version, part in table.items():
            found[name if version == "v2" else f"{name}_{version}"] = {**part, "version": version}
    return found


def kind(table: dict) -> str:
    """results, settings, quoted or formulas; of what no table holds, figure or text."""
    return table.get("kind", "results")


@cache
def stated_tables(paper: str) -> dict[str, dict]:
    """The numbers that stand in figures and sentences only, in the shape of tables.

    `text` has the differences and ranges of cells that a paper's sentences state; those that are themselves cells
    of a table (a later version's, another paper's) are left out, since that table has them.
    """
    content = load(paper, "published")
    checks = content.get("checks", {})

    def row(check: dict, values: dict) -> dict:
        unit = published_tables(paper)[check["plus"].split("/")[0]]["unit"]
        return {"id": check["id"], "values": values, "decimals": check["decimals"], "unit": unit}

    rows = [
        row(check, {"stated": check["stated"]})
        for check in checks.get("differences", [])
        if isinstance(check["stated"], int | float)
    ]
    rows += [row(check, dict(zip(("low", "high"), check["stated"], strict=True))) for check in checks.get("ranges", [])]
    text = {
        "kind": "text",
        "caption": "Differences and ranges of cells that the paper states in sentences",
        "metric": "difference of two cells; low and high: the smallest and the largest of several",
        "unit": None,  # each row has its own
        "decimals": 2,
        "rows": rows,
    }
    return {**content.get("stated", {}), **({"text": text} if rows else {})}


def unit(table: dict, row: str) -> str | None:
    """The unit of a row's numbers: percent, fraction or another, as the paper prints them."""
    own = next((entry.get("unit") for entry in table["rows"] if entry["id"] == row), None)
    return own or table.get("unit")


@cache
def all_tables(paper: str) -> dict[str, dict]:
    """The paper's tables, and what figures and sentences state besides."""
    return {**published_tables(paper), **stated_tables(paper)}


def doubtful(paper: str) -> list[tuple[str, str]]:
    """(pattern of table/row/column/metric, what an erratum says of these published numbers)."""
    content = load(paper, "errata")
    found = []
    for entry in [*content.get("known_inconsistencies", []), *content.get("errata", [])]:
        what = f"{entry['where']}: {entry['should_be']}" if "where" in entry else entry["why"]
        found += [(pattern, what) for pattern in entry.get("cells", [])]
    return found


def theory(keys: Iterable[str]) -> dict[str, list[str]]:
    """The studies of clrepro.theory that each of these papers names."""
    return {paper: load(paper, "experiments").get("theory", []) for paper in keys}


def run_definition(reference: str, paper: str) -> tuple[str, dict]:
    """A run as experiments.yaml defines it; another paper's run is named paper.run."""
    owner, _, name = reference.rpartition(".")
    owner = owner or paper
    runs = load(owner, "experiments").get("runs", {})
    if name not in runs:
        raise unknown("run", name, runs, f"papers/{owner}/experiments.yaml")
    return owner, runs[name]


def recipe(definition: dict, owner: str, backbone: str) -> dict:
    """The recipe that a run names, its settings for the backbone included; another paper's is paper.recipe."""
    if definition.get("recipe") is None:
        return {}
    paper, _, name = definition["recipe"].rpartition(".")
    found = recipes(paper or owner, name, f"papers/{owner}/experiments.yaml")[name]
    common = {key: value for key, value in found.items() if key not in ("backbones", "modality")}
    return {**common, **found.get("backbones", {}).get(backbone, {})}


def modality(definition: dict, owner: str) -> str:
    """What a run trains, as its recipe says, or, where it has none, the run itself."""
    if definition.get("recipe") is None:
        said, place = definition.get("modality"), f"papers/{owner}/experiments.yaml, a run without a recipe"
    else:
        paper, _, name = definition["recipe"].rpartition(".")
        place = f"papers/{paper or owner}/experiments.yaml, recipes.{name}"
        said = recipes(paper or owner, name, f"papers/{owner}/experiments.yaml")[name].get("modality")
    if said is None:
        raise UserError(f"{place}: `modality` is missing, as in `modality: sentence`")
    return said


@cache
def first_run(paper: str, name: str) -> tuple[str, dict] | None:
    """The first run that a table names, with its owner; None if it names none."""
    spec = load(paper, "experiments").get("tables", {}).get(name) or {}
    for row, part in (spec.get("rows") or {"": {}}).items():
        for column in spec.get("columns", {}).values() or [{}]:
            merged = {**spec.get("cells", {}), **(part or {}), **(column or {})}
            name_of_run = merged.get("run", "{column}").replace("{row}", row or "{column}")
            if "{column}" not in name_of_run:
                return run_definition(name_of_run, paper)
    return None


def recipes(paper: str, name: str, place: str) -> dict[str, dict]:
    """A paper's recipes, of which one must be the named one."""
    known = load(paper, "experiments").get("recipes", {})
    if name not in known:
        raise unknown("recipe", name, known, place)
    return known


def recipe_covers(paper: str, name: str, backbone: str) -> bool:
    """Whether a recipe is complete for a backbone: one that differs by backbones must name it."""
    backbones = recipes(paper, name, f"papers/{paper}/experiments.yaml")[name].get("backbones")
    return backbones is None or backbone in backbones


def settings(definition: dict, owner: str, backbone: str) -> dict:
    """What a run says of its training and its objective on a backbone: recipe, then run, then backbone."""
    per_backbone = definition.get("backbones", {}).get(backbone)
    if per_backbone is None:
        raise UserError(f"papers/{owner}/experiments.yaml gives no settings for backbone '{backbone}'")
    return {**recipe(definition, owner, backbone), **definition.get("settings", {}), **per_backbone}
