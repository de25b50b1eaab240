"""The numbers in README.md and pages of docs/: computed from code and results, never typed (`make readme`).

A number, or a block of console output, stands between two comments that a reader of the page does not see:

    <!--demo.trainings-->308<!--/-->

The first word says where it comes from: `code` (this checkout), `paper` (the plan of that scale), `reference` and
`kept` (the results that the repository keeps), or a scale's results folder, as `demo`. `main` rewrites what it can
compute and leaves the numbers of a scale without results as they are.
"""

import re
import sys
from collections.abc import Callable, Iterable
from functools import partial

import pandas as pd

from clrepro import config
from clrepro.catalogue import Catalogue, cost, gpus, papers
from clrepro.errors import unknown
from clrepro.ledger import published, verdicts
from clrepro.ledger.scores import run_id
from clrepro.objectives import names as objectives
from clrepro.paths import RESULTS, ROOT, write_text
from clrepro.report import kept_values, reference, summary
from clrepro.workflow import records

MARK = re.compile(r"(<!--(?P<name>[a-z]+\.[^\n]+?)-->)(?P<text>.*?)(<!--/-->)", re.DOTALL)
FILES = (ROOT / "README.md", ROOT / "docs/graphs.md", ROOT / "docs/cluster.md", ROOT / "docs/findings.md")
Values = dict[str, Callable[[], str]]


def of_code() -> Values:
    """What this checkout holds: papers as data, objectives."""
    claims = {key: len(papers.load(key, "claims")["claims"]) for key in papers.paper_keys()}
    values = {f"code.claims.{key}": lambda count=count: str(count) for key, count in claims.items()}
    return values | {
        "code.claims": lambda: str(sum(claims.values())),
        "code.tables": lambda: str(sum(len(papers.published_tables(key)) for key in papers.paper_keys())),
        "code.objectives": lambda: str(len(objectives())),
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
    ours, apart = gpus.parts_of(catalogue)
    one = gpus.parts_of(Catalogue(config.load("paper", [ROOT / "config/simcse.yaml"])))[0]
    for name in gpus.DATASHEETS:
        for key, part in ("paper.hours", ours), ("paper.imagenet.hours", apart):
            values[f"{key}.{name}"] = lambda name=name, part=part: f"{part.hours(name)['hours']:,.0f}"
        values[f"paper.one.hours.{name}"] = lambda name=name: f"{one.hours(name)['hours']:.1f}"
    values["paper.imagenet.runs"] = lambda: f"{len(apart.runs):,}"
    values["paper.imagenet.too_large"] = lambda: str(len(apart.too_large("H100")))
    shared = 3 * max(run.plan.memory_gb(run) for run in one.runs)
    values["paper.shared.gigabytes"] = lambda: f"{shared:.0f}"
    values["paper.one.megabytes"] = lambda: f"{sum(source.megabytes for source in one.catalogue.sources()):,.0f}"
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


SIGNS = {"reproduced": " =", "differs": " ≠", "undecided": " ?"}
ROWS = (
    "GraphCL",
    "MACL",
    "MACL [fixed temperature]",
    "GraphCL [as written]",
    "MACL [as written]",
    "[untrained encoder]",
)
COMPARED = (  # rows of table 4 whose difference tells something
    ("MACL", "GraphCL"),
    ("MACL [fixed temperature]", "GraphCL"),
    ("MACL", "MACL [fixed temperature]"),
    ("GraphCL [as written]", "GraphCL"),
    ("MACL [as written]", "MACL"),
    ("GraphCL", "[untrained encoder]"),
)


def of_reference() -> Values:
    """What the kept results of paper scale say of table 4 of huang2023, which a CPU trains as the paper did."""
    folder = ROOT / reference.FOLDER / "paper"
    table = pd.read_csv(folder / "tables/huang2023/table_4.csv").set_index(["row", "column"])
    sets = list(dict.fromkeys(column for _, column in table.index))
    frame = published("huang2023")
    printed = frame[frame["table"] == "table_4"].set_index(["row", "column"])

    def theirs(row: str, column: str) -> str:
        return f"{printed.loc[(row, column), 'value']:.2f} ± {printed.loc[(row, column), 'std']:.2f}"

    def ours(row: str, column: str) -> str:
        cell = table.loc[row, column]
        return f"{cell['ours']:.2f} ± {cell['ours_std']:.2f}{SIGNS.get(cell['verdict'], '')}"

    block = partial(columns, sets)

    def both(row: str) -> list[tuple[str, Callable[[str], str]]]:
        return [(f"{row}, published", partial(theirs, row)), (f"**{row}, here**", partial(ours, row))]

    def differences() -> str:
        scores = by_seed(reference.read(folder / reference.RUNS))

        def cell(one: str, other: str, column: str) -> str:
            values = [scores[one, column][seed] - scores[other, column][seed] for seed in scores[one, column]]
            found = verdicts.summarise(values)
            return f"{found.mean:+.2f} ({found.low:+.2f} to {found.high:+.2f})"

        gains = [printed.loc[("MACL", column), "value"] - printed.loc[("GraphCL", column), "value"] for column in sets]
        stated = dict(zip(sets, gains, strict=True))
        lines = [("MACL less GraphCL, published", lambda column: f"{stated[column]:+.2f}")]
        lines += [(f"{one} less {other}", partial(cell, one, other)) for one, other in COMPARED]
        return block("points", lines)

    untrained = [("an untrained encoder, here", partial(ours, "[untrained encoder]"))]
    found = table.loc[["GraphCL", "MACL"], "verdict"].value_counts()
    return {
        "reference.table_4": lambda: block("accuracy, %", [*both("GraphCL"), *both("MACL"), *untrained]),
        "reference.graphs": lambda: block("accuracy, %", [(row, partial(ours, row)) for row in ROWS]),
        "reference.graph_differences": differences,
    } | {f"reference.{word}": lambda word=word: str(found.get(word, 0)) for word in SIGNS}


def of_molecules() -> Values:
    """What the kept results of bench scale say of table 5 of huang2023, on the sets that were fine-tuned on."""
    table = pd.read_csv(ROOT / reference.FOLDER / "bench/tables/huang2023/table_5.csv").dropna(subset="ours")
    cells = table.set_index(["row", "column"])
    sets, rows = (list(dict.fromkeys(table[name])) for name in ("column", "row"))

    def ours(row: str, column: str) -> str:
        return f"{cells.loc[(row, column), 'ours']:.2f} ± {cells.loc[(row, column), 'ours_std']:.2f}"

    lines = [(row, partial(ours, row)) for row in rows]
    lines += [(f"{row}, published", lambda column, row=row: f"{cells.loc[(row, column), 'published']:.2f}")
              for row in ("GraphCL", "MACL")]  # fmt: skip
    return {"reference.molecules": lambda: columns(sets, "ROC-AUC, %", lines)}


def columns(names: list[str], title: str, lines: Iterable[tuple[str, Callable[[str], str]]]) -> str:
    """A Markdown table: lines by name, each with the cell of every column."""
    head = [f"| {title} | {' | '.join(names)} |", f"|---|{'---:|' * len(names)}"]
    rows = [f"| {name} | {' | '.join(map(cell, names))} |" for name, cell in lines]
    return "\n" + "\n".join([*head, *rows]) + "\n"


def by_seed(entries: Iterable[dict]) -> dict[tuple[str, str], dict[int, float]]:
    """The accuracies of table 4 by its row and column, then by seed."""
    config_ = config.load("paper", [ROOT / "config/graphs.yaml"])
    known = {entry["run"]: entry for entry in entries}
    table = Catalogue(config_, whole=False).table("huang2023", "table_4")
    found = {}
    for cell in table.cells:
        parts = {run.seed: known[run_id(run)] for run in cell.runs}
        found[cell.row, cell.column] = {seed: part["results"]["svm"]["None"][0][3] for seed, part in parts.items()}
    return found


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
    """Rewrite the pages; the numbers of a scale come from results/<scale> below the working directory."""
    values = of_code() | of_plan(Catalogue(config.load("paper"))) | of_reference() | of_molecules()
    values |= kept_values.values()
    sources = {"code", "paper", "reference", "kept"}
    if (RESULTS / "demo" / "claims.csv").is_file():
        values |= of_results(Catalogue(config.load("demo")))
        sources.add("demo")
    else:
        print("results/demo has no claims.csv: the demo's numbers stay as they are", file=sys.stderr)
    for file in FILES:
        before = file.read_text("utf-8")
        after = rewritten(before, values, sources)
        old, new = (MARK.findall(text) for text in (before, after))
        for first, second in zip(old, new, strict=True):
            if first != second:
                print(f"{first[1]}: {first[2].strip()[:60]} -> {second[2].strip()[:60]}")
        write_text(file, after)


if __name__ == "__main__":
    main()
