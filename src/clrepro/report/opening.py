"""What a report says first: what this scale proves, whether it can judge the papers, and what is wrong with it.

Where no number of ours may stand beside a published one (demo and bench scale), the first things are what was trained,
regenerated, evaluated and checked; claims stand behind, with the reason why they are not judged here.
"""

from collections import Counter
from statistics import median
from typing import Any

import pandas as pd

from clrepro import modalities
from clrepro.catalogue import Catalogue
from clrepro.report.page import verdicts
from clrepro.report.tables import rule_sentence

SMALL = {"demo": "tiny encoders", "bench": "small encoders"}


def judges(catalogue: Catalogue) -> bool:
    """Whether some number of ours may stand beside a published one; one run of each modality tells."""
    of_each = {run.modality: run for run in catalogue.runs}
    return catalogue.compares(()) or any(catalogue.compares([run]) for run in of_each.values())


def opening(catalogue: Catalogue, content: dict[str, Any]) -> dict[str, Any]:
    """The first words of a report. content: the report's other data (clrepro.report.assemble.gather).

    judges: as the function. headline: what a reader should take away who reads nothing else. note: what the scale means
    for numbers, or why it judges no claim; in that case lines say what was done, each a name, a text and, perhaps,
    counts of verdicts.
    """
    if judges(catalogue):
        note = f"At {rule_sentence(catalogue.config).replace('`', '')}."
        return {"judges": True, "headline": headline(catalogue, content), "lines": [], "note": note}
    lines = [
        trainings(catalogue, content["runs"]),
        tables(content["papers"]),
        figures(content["papers"]),
        evaluations(content["runs"]),
        theory(content["theory"]),
        claims(content["claims"]),
    ]
    return {
        "judges": False,
        "headline": headline(catalogue, content),
        "lines": list(filter(None, lines)),
        "note": why(catalogue, content["runs"]),
    }


def material(catalogue: Catalogue) -> str:
    """On what this scale trains what."""
    scale = catalogue.config.scale
    if scale not in SMALL:
        return "encoders or settings other than the papers'"
    plans = dict.fromkeys(run.plan for run in catalogue.runs)
    return f"{SMALL[scale]} on {' and '.join(plan.material[scale] for plan in plans)}"


def is_trained(run: dict) -> bool:
    """Whether a run was trained; random weights have a seed, too, but no steps."""
    return run["seed"] is not None and bool(run["steps"])


def headline(catalogue: Catalogue, content: dict[str, Any]) -> str:
    """What was done, and whether it compares, in one line."""
    trained = sum(map(is_trained, content["runs"].values()))
    scale = catalogue.config.scale.capitalize()
    if judges(catalogue):
        cells = sum((Counter(verdicts.results(paper)) for paper in content["papers"]), Counter())
        found = {name: count for name, count in cells.items() if name not in ("missing", "not comparable")}
        listed = ", ".join(f"{found[name]:,} {name}" for name in verdicts.ordered(found))
        return (
            f"{scale} scale, {many(trained, 'training')}: of {cells.total():,} printed results, "
            f"{listed or 'none compared yet'}."
        )
    counted = {"tables of results": counted_tables(content["papers"]), "figures": counted_figures(content["papers"])}
    made = " and ".join(f"{done} of the {whole} {name}" for name, (done, whole) in counted.items() if whole)
    return (
        f"{scale} scale ({material(catalogue)}; no number here is comparable with a published one): "
        f"{many(trained, 'encoder')} trained{f', {made} regenerated' if made else ''}."
    )


def why(catalogue: Catalogue, runs: dict[str, dict] | None = None) -> str:
    """Why this scale cannot judge the papers' claims; with the trainings' length, if their runs are given."""
    steps = [run["steps"] for run in (runs or {}).values() if is_trained(run)]
    brief = f", trained for {median(steps):,.0f} steps in the median" if steps else ""
    return (
        "The papers' claims are about encoders of their size, trained on their data by their settings. "
        f"Here there are {material(catalogue)}{brief}. So a claim is said to be seen here, or its opposite is, or the "
        "seeds leave it undecided: that describes this scale and is no verdict on a paper."
    )


def line(name: str, text: str, counts: dict[str, int] | None = None) -> dict[str, Any]:
    return {"name": name, "text": text, "counts": counts or {}}


def many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def trainings(catalogue: Catalogue, runs: dict[str, dict]) -> dict[str, Any] | None:
    trained = [run for run in runs.values() if is_trained(run)]
    planned = sum(bool(run.objective) for run in dict.fromkeys(catalogue.runs))
    if not planned:
        return None
    kinds = [len({run[name] for run in trained}) for name in ("objective", "backbone")]
    seeds = sorted({run["seed"] for run in trained})
    done = f"{len(trained):,} of {planned:,} planned"
    if not trained:
        return line("Trainings", f"{done}.")
    said = f"{many(kinds[0], 'objective')}, {many(kinds[1], 'backbone')}, {'seed' if len(seeds) == 1 else 'seeds'} "
    return line("Trainings", f"{done}: {said}{', '.join(map(str, seeds))}.")


def counted_tables(papers: list[dict]) -> tuple[int, int]:
    """(tables of results that have numbers of ours, all of the papers)."""
    results = [table for paper in papers for table in paper["tables"] if table["kind"] == "results"]
    return sum(any(cell["ours"] is not None for cell in cells_of(table)) for table in results), len(results)


def counted_figures(papers: list[dict]) -> tuple[int, int]:
    """(figures of the papers that are drawn, all of them); those that only we have do not count."""
    figures = [one for paper in papers for one in paper["figures"] if one["id"].startswith("figure_")]
    return sum(bool(figure["image"]) for figure in figures), len(figures)


def cells_of(table: dict) -> list[dict]:
    return [cell for part in table["parts"] for row in part["rows"] for cell in row["cells"] if cell]


def tables(papers: list[dict]) -> dict[str, Any] | None:
    done, whole = counted_tables(papers)
    counts = dict(sum((Counter(verdicts.results(paper)) for paper in papers), Counter()))
    if not whole:
        return None
    cells = sum(counts.values())
    text = (
        f"{done} of the papers' {whole} tables of results have numbers of ours. With those that stand in figures and "
        f"sentences, {cells - counts.get('missing', 0):,} of {cells:,} printed results are measured."
    )
    return line("Tables", text, counts)


def figures(papers: list[dict]) -> dict[str, Any] | None:
    done, whole = counted_figures(papers)
    rest = f" Each of the other {whole - done} says why it is not." if done < whole else ""
    return line("Figures", f"{done} of the papers' {whole} are drawn from our own numbers.{rest}") if whole else None


def evaluations(runs: dict[str, dict]) -> dict[str, Any] | None:
    """Which evaluations were computed, and of how many encoders."""
    encoders = Counter(
        kind
        for run in runs.values()
        for kind in dict.fromkeys(modalities.evaluation_of(name).described for name in run["scores"])
    )
    found = [f"{kind} ({count:,})" for kind, count in encoders.most_common()]
    return line("Evaluation", f"Computed, of how many encoders: {', '.join(found)}.") if found else None


def theory(checks: list[dict]) -> dict[str, Any] | None:
    """The verdicts on the papers' mathematics as it is printed, and how much of what fails is mended."""
    printed = [check for check in checks if check["form"] != "corrected"]
    if not printed:
        return None
    counts = Counter(check["verdict"] for check in printed)
    near = sum(count for verdict, count in counts.items() if verdicts.kind(verdict) == "near")
    text = f"{len(printed)} equations, bounds and propositions were checked as they are printed: {counts['holds']} hold"
    text += f", {near} hold with a reservation" if near else ""
    text += f", {counts['fails']} fail"
    mended = len(verdicts.corrected(checks))
    text += f"; {mended} of these are misprints whose corrected form holds" if mended else ""
    return line("Theory", f"{text}. This needs no training and is the same at every scale.", dict(counts))


def claims(tested: list[dict]) -> dict[str, Any] | None:
    """What the claims show at a scale that cannot judge them."""
    counts = Counter(claim["verdict"] for claim in tested)
    if not tested:
        return None
    ran = [f"{counts[verdict]} {verdict}" for verdict in verdicts.ordered(counts) if verdict != "missing"]
    text = f"{len(tested) - counts['missing']} of the papers' {len(tested)} claims have runs here"
    return line("Claims", f"{text}{': ' if ran else ''}{', '.join(ran)} at this scale.", dict(counts))


def state(ledger: pd.DataFrame, content: dict[str, Any]) -> dict[str, int]:
    """What may be wrong with a report, counted; in a finished one all but `left_out` are 0.

    problems: broken files. stale: runs trained by older code. to_fill: holes that a command fills, figures included.
    unexplained: cells without a number and without a reason. left_out: holes that this configuration does not ask for.
    """
    pictures = [figure for paper in content["papers"] for figure in paper["figures"] if not figure["image"]]
    holes = ledger[ledger["verdict"] == "missing"]
    asked = (holes["fill"] != "") | holes["note"].str.contains("left out, broken")
    return {
        "problems": len(content["problems"]),
        "stale": sum(run["stale"] for run in content["runs"].values()),
        "to_fill": int((ledger["fill"] != "").sum()) + sum(bool(figure["fill"]) for figure in pictures),
        "unexplained": int((holes["note"] == "").sum()) + sum(not figure["missing"] for figure in pictures),
        "left_out": int((~asked).sum()) + sum(not figure["fill"] for figure in pictures),
    }


def state_in_words(counts: dict[str, int]) -> str:
    """The same in one line, for a terminal."""
    return (
        f"{many(counts['problems'], 'problem')}, {many(counts['stale'], 'stale run')}, "
        f"{many(counts['to_fill'], 'hole')} to fill, {counts['unexplained']} unexplained; "
        f"{counts['left_out']:,} more that this scale does not ask for"
    )
