"""``clrepro show``, ``report``, ``reference``, ``sweep``, ``claims``, ``power``, ``theory``: what is found so far."""

from pathlib import Path
from typing import Annotated

import typer

from clrepro.cli.options import Files, Mirror, Only, Scale, Settings, catalogue_of
from clrepro.errors import unknown


def show(
    scale: Scale = "demo",
    only: Only = None,
    configfile: Files = None,
    settings: Settings = None,
    csv: Annotated[bool, typer.Option("--csv", help="with --only: the long form, not the printed layout")] = False,
) -> None:
    """What a scale has to show so far, from the results on disk; with --only the tables themselves."""
    from clrepro.ledger import Records
    from clrepro.report import summary, tables
    from clrepro.report.common import COLUMNS

    catalogue = catalogue_of(scale, configfile, only, settings=settings)
    if not only:
        print(summary.text(catalogue))
        return
    records = Records()
    for table in catalogue.tables:
        long = tables.frame(catalogue, table, records)
        if csv:
            print(long[COLUMNS].to_csv(index=False), end="")
            continue
        filled = "" if table.is_printed else f": {int(long['ours'].notna().sum())} of {len(long)} cells filled"
        print(f"{table.paper} {table.name}, {scale} scale{filled}")
        for note in tables.notes(long):
            print(f"  {note}")
        print(tables.text(long))
        print(f"with the published numbers: {catalogue.files.table_folder(table) / table.name}.html, .md, .tex, .csv\n")


def report(scale: Scale = "demo", configfile: Files = None, settings: Settings = None) -> None:
    """Write report.html, ledger.csv and claims.csv from whatever results are on disk; holes say how to fill them."""
    from clrepro.report import html, opening, summary

    catalogue = catalogue_of(scale, configfile, settings=settings)
    content = html.write(catalogue)
    cells = sum(sum(paper["verdicts"].values()) for paper in content["papers"])
    missing = sum(paper["verdicts"].get("missing", 0) for paper in content["papers"])
    print(f"{catalogue.files.report[-1]}: {len(content['runs'])} runs, {cells - missing} of {cells} cells filled")
    for broken in summary.skipped(content):
        print(broken)
    print(opening.state_in_words(content["state"]))


def reference(scale: Scale = "paper", configfile: Files = None, settings: Settings = None) -> None:
    """Keep a scale's filled tables, its figures and claims, and the records behind them in results/reference."""
    from clrepro.report import reference as kept

    print(kept.write(catalogue_of(scale, configfile, settings=settings)))


def sweep(
    scale: Scale = "bench",
    configfile: Files = None,
    settings: Settings = None,
    out: Annotated[Path, typer.Option(help="the overlay to write")] = Path("config/learning-rates.yaml"),
) -> None:
    """Select each objective's learning rate on STS-B dev, from the finished sweeps of a scale, for a configuration.

    Ask for the sweeps with `sentence.learning_rate_sweep`, and run them with Snakemake: targets that are called
    results/<scale>/grids/sweep/<objective>-<backbone>.csv, or `sweeps` for all.
    """
    from clrepro.report import grids

    print(grids.write_choice(catalogue_of(scale, configfile, settings=settings), out))


def claims(
    paper: Annotated[str | None, typer.Argument(help="only this paper's claims")] = None,
    scale: Scale = "demo",
    configfile: Files = None,
    settings: Settings = None,
    verdict: Annotated[
        str | None, typer.Option(help="only these: holds, fails, seen, opposite, undecided, missing")
    ] = None,
) -> None:
    """Test the papers' claims on the results on disk; print verdicts with estimates and intervals.

    Holds and fails are said where a claim's numbers compare with the paper's (paper scale). Elsewhere the words are
    seen and opposite: they describe what this scale shows and are no verdict on the paper.
    """
    from clrepro.ledger.claims import evaluate
    from clrepro.ledger.verdicts import CLAIM_VERDICTS
    from clrepro.report import opening, summary

    if verdict and verdict not in CLAIM_VERDICTS:
        raise unknown("verdict", verdict, CLAIM_VERDICTS, "--verdict")
    catalogue = catalogue_of(scale, configfile, settings=settings)
    if paper and paper not in catalogue.config.papers:
        raise unknown("paper", paper, catalogue.config.papers)
    frame, _ = evaluate(catalogue)
    frame = frame[frame["paper"].eq(paper or frame["paper"])]
    for row in frame[frame["verdict"].eq(verdict or frame["verdict"])].itertuples():
        print(summary.claim(row))
    print(summary.counts(frame["verdict"]))
    if not opening.judges(catalogue):
        print(opening.why(catalogue))


def power(
    paper: Annotated[str | None, typer.Argument(help="only this paper's claims")] = None,
    scale: Scale = "demo",
    configfile: Files = None,
    settings: Settings = None,
    mirror: Mirror = None,
    csv: Annotated[Path | None, typer.Option("--csv", help="keep the table in this file")] = None,
) -> None:
    """Say which claims the seeds of a configuration can decide, before anything is trained. Takes minutes.

    A line a claim that has runs or planned ones: its comparisons, and the probability that it is decided as seen, and
    as opposite, if the true differences are 1, 2, 3 or 5 standard deviations of a run. From simulated results, as
    docs/claims.md says.
    """
    from clrepro.ledger import power as simulated

    catalogue = catalogue_of(scale, configfile, mirror=mirror, settings=settings)
    if paper and paper not in catalogue.config.papers:
        raise unknown("paper", paper, catalogue.config.papers)
    found = simulated.table(catalogue, [paper] if paper else catalogue.config.papers)
    if csv:
        found.dropna().to_csv(csv, index=False, float_format="%.2f")
    print(found.dropna().to_string(index=False, float_format="{:.2f}".format))
    print(simulated.summary(found, len(catalogue.config.seeds)))


def theory(
    paper: Annotated[str | None, typer.Argument(help="only this paper's statements")] = None,
    failing: Annotated[bool, typer.Option("--failing", help="only what does not hold")] = False,
) -> None:
    """Check the papers' equations, bounds and propositions; print verdicts and counterexamples. Takes seconds."""
    from clrepro.catalogue import papers
    from clrepro.report.theory import summary
    from clrepro.theory import check_all

    if paper and paper not in papers.paper_keys():
        raise unknown("paper", paper, papers.paper_keys())
    frame = check_all(papers.theory([paper] if paper else papers.paper_keys()))
    for row in frame[frame["verdict"].eq("fails") | (not failing)].itertuples():
        form = f", {row.form}" if row.form else ""
        print(
            f"{row.paper} {row.where}{form}: {row.verdict.upper()}\n  {row.statement}\n  {row.detail} ({row.checked})"
        )
    print(summary(frame))
