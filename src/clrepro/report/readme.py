"""The numbers in README.md: computed from the code and read from results folders, never typed (`make readme`).

A number, or a block of console output, stands between two comments that a reader of the page does not see:

    <!--demo.trainings-->308<!--/-->

The first word says where it comes from: `code` (this checkout), `paper` (the plan of that scale), or a scale's results
folder, as `demo`. `main` rewrites what it can compute and leaves the numbers of a scale without results as they are.
"""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pandas as pd

from clrepro import config
from clrepro.catalogue import Catalogue, cost, papers
from clrepro.errors import unknown
from clrepro.objectives import names
from clrepro.paths import RESULTS, ROOT, write_text
from clrepro.report import summary
from clrepro.workflow import records

MARK = re.compile(r"(<!--(?P<name>[a-z]+\.[^\n]+?)-->)(?P<text>.*?)(<!--/-->)", re.DOTALL)
Values = dict[str, Callable[[], str]]


def of_code() -> Values:
    """What this checkout holds: papers as data, objectives."""
    claims = {key: len(papers.load(key, "claims")["claims"]) for key in papers.paper_keys()}
    values = {f"code.claims.{key}": lambda count=count: str(count) for key, count in claims.items()}
    return values | {
        "code.claims": lambda: str(sum(claims.values())),
        "code.tables": lambda: str(sum(len(papers.published_tables(key)) for key in papers.paper_keys())),
        "code.objectives": lambda: str(len(names())),
    }


def of_plan(catalogue: Catalogue) -> Values:
    """What a scale would cost, as `clrepro plan` estimates it."""
    tabled = {run for table in catalogue.tables for run in table.runs}
    parts = {
        "": cost.of_all(catalogue),
        ".figures": cost.of_runs(catalogue, tuple(run for run in catalogue.runs if run not in tabled)),
    }
    for plan in dict.fromkeys(run.plan for run in catalogue.runs):
        parts[f".{plan.key}s"] = cost.of_runs(catalogue, [run for run in catalogue.runs if run.plan is plan])
    values = {f"paper.hours{name}": lambda price=price: f"{price.hours:,.0f}" for name, price in parts.items()}
    values |= {f"paper.gigabytes{name}": lambda price=price: f"{price.gigabytes:,.0f}" for name, price in parts.items()}
    return values | {"paper.runs": lambda: f"{len(catalogue.runs):,}"}


def of_results(catalogue: Catalogue) -> Values:
    """What a scale's results say."""
    scale = catalogue.config.scale
    folder = RESULTS / scale
    claims = pd.read_csv(folder / "claims.csv", keep_default_na=False)

    def minutes() -> str:
        jobs = [row for row in records.rows_of(records.stored(scale)) if row.get("starttime")]
        return f"{(max(row['endtime'] for row in jobs) - min(row['starttime'] for row in jobs)) / 60:.0f}"

    values = {
        "trainings": lambda: str(sum(run.objective is not None and run.record.is_file() for run in catalogue.runs)),
        "minutes": minutes,
        "show": lambda: f"\n```text\n{summary.text(catalogue)}\n```\n",
        "checks": lambda: str(len(pd.read_csv(folder / "theory.csv"))),
    }
    words = ("seen", "opposite", "undecided", "missing")
    values |= {f"claims.{word}": lambda word=word: str(claims["verdict"].eq(word).sum()) for word in words}
    return {f"{scale}.{name}": value for name, value in values.items()}


def rewritten(text: str, values: Values, sources: Iterable[str]) -> str:
    """The text with every number of the given sources (first words of names) computed anew.

    A name that no source has is a UserError.
    """
    sources = set(sources)

    def replaced(found: re.Match) -> str:
        name = found["name"]
        if name.partition(".")[0] not in sources:
            return found[0]
        if name not in values:
            raise unknown("number", name, values, "README.md")
        return found[1] + values[name]() + found[4]

    return MARK.sub(replaced, text)


def main() -> None:
    """Rewrite README.md; the numbers of a scale come from results/<scale> below the working directory."""
    file = ROOT / "README.md"
    before = file.read_text("utf-8")
    values = of_code() | of_plan(Catalogue(config.load("paper")))
    sources = {"code", "paper"}
    if (RESULTS / "demo" / "claims.csv").is_file():
        values |= of_results(Catalogue(config.load("demo")))
        sources.add("demo")
    else:
        print("results/demo has no claims.csv: the demo's numbers stay as they are", file=sys.stderr)
    after = rewritten(before, values, sources)
    old, new = (MARK.findall(text) for text in (before, after))
    for first, second in zip(old, new, strict=True):
        if first != second:
            print(f"{first[1]}: {first[2].strip()[:60]} -> {second[2].strip()[:60]}")
    write_text(Path(file), after)


if __name__ == "__main__":
    main()
