"""The command line: plan, show and inspect; train without Snakemake."""

import re
import sys
from pathlib import Path
from typing import Annotated

import typer

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost
from clrepro.catalogue.bundles import jobs_of
from clrepro.errors import Interrupted, UserError, unknown
from clrepro.paths import ROOT, read_json

app = typer.Typer(
    help="Contrastive-learning papers, reproduced. The workflow itself is run by `snakemake --cores all`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
Scale = Annotated[str, typer.Option(help="demo, bench or paper")]
Files = Annotated[list[Path] | None, typer.Option("--configfile", help="overlay or replacement of the scale's file")]
Mirror = Annotated[str | None, typer.Option(help="folder of already downloaded files")]
Only = Annotated[str | None, typer.Option(help="one table, as paper/table, or all of a paper")]


def catalogue_of(scale: str, files: list[Path] | None, only: str | None = None) -> Catalogue:
    config = configuration.load(scale, files)
    if only:
        paper, _, table = only.partition("/")
        config = config.model_copy(update={"papers": [paper], "tables": [only] if table else []})
    return Catalogue(config)


def megabytes(gigabytes: float) -> str:
    return f"{gigabytes:,.1f} GB" if gigabytes >= 1 else f"{1000 * gigabytes:,.0f} MB"


@app.command()
def plan(
    scale: Scale = "demo",
    only: Only = None,
    configfile: Files = None,
    figures: Annotated[bool, typer.Option("--figures", help="price each figure's runs")] = False,
    grids: Annotated[bool, typer.Option("--grids", help="price the papers' grid searches as well")] = False,
) -> None:
    """List what a scale would run, in jobs, hours and disk, before anything starts."""
    catalogue = catalogue_of(scale, configfile, only)
    hardware = catalogue.config.hardware
    print(f"{'table':<24}{'runs':>6}{'holes':>7}{'hours':>10}{'disk':>12}")
    for table in catalogue.tables:
        price = cost.of_table(catalogue, table)
        holes = sum(bool(cell.hole) for cell in table.cells)
        name = f"{table.paper}/{table.name}"
        print(f"{name:<24}{len(table.runs):>6}{holes:>7}{price.hours:>10.2f}{megabytes(price.gigabytes):>12}")
    tabled = {run for table in catalogue.tables for run in table.runs}
    of_figures = tuple(dict.fromkeys(run for figure in catalogue.figures for run in figure.runs if run not in tabled))
    if of_figures:
        price = cost.of_runs(catalogue, of_figures)
        count, disk = len(of_figures), megabytes(price.gigabytes)
        print(f"{'figures, beyond tables':<24}{count:>6}{'':>7}{price.hours:>10.2f}{disk:>12}")
    price = cost.of_all(catalogue)
    bundles = catalogue.bundles()
    jobs = sum(jobs_of(catalogue, bundle) for bundle in bundles)
    jobs += len(catalogue.sources()) + len(catalogue.backbones()) + len(catalogue.figures) + len(catalogue.grids)
    jobs += sum(bool(table.runs) for table in catalogue.tables)
    jobs += len({table.paper for table in catalogue.tables if not table.runs})  # these share a job
    jobs += len(catalogue.simulations) + 2  # theory and report
    disk = megabytes(price.gigabytes)
    print(f"{'all, each run once':<24}{len(catalogue.runs):>6}{'':>7}{price.hours:>10.2f}{disk:>12}")
    largest = max((cost.of_run(catalogue, run).gigabytes for run in catalogue.runs), default=0)
    print(f"\n{jobs} jobs; a training under way keeps up to {megabytes(4 * largest)} of state")
    print(f"Hours are of {hardware.name} at {hardware.teraflops:g} TFLOP/s, from operation counts: an estimate.")
    for source in catalogue.sources():
        place = "generated" if source.kind == "generated" else source.url or f"mirror only: {source.mirror}"
        print(f"source {source.name} ({source.megabytes:g} MB): {place}")
    thinned = sum(bool(simulation.settings["footnote"]) for simulation in catalogue.simulations)
    counts = f"{thinned} of them thinned" if thinned else "at the papers' counts"
    print(f"{len(catalogue.simulations)} figures without training, {counts}, and the theory checks: minutes")
    if figures:
        asked = {f"{figure.paper}/{figure.name}" for figure in catalogue.figures}
        print(f"\n{'figure':<32}{'runs':>6}{'new':>6}{'hours':>12}")
        for name in catalogue.figure_names():
            runs = catalogue.figure(name).runs
            new = tuple(run for run in runs if run not in tabled)
            left_out = "" if name in asked else "  not asked for"
            print(f"{name:<32}{len(runs):>6}{len(new):>6}{cost.of_runs(catalogue, new).hours:>12,.1f}{left_out}")
        print("New runs are those that no table needs; hours are of these. Figures share runs.")
        print('Ask for them with `figures: ["paper/figure"]` in the configuration, `["paper"]` for all of a paper.')
        for simulation in catalogue.simulations:
            print(f"without training: {simulation.paper}/{simulation.name}: {simulation.shows}")
        for name, why in catalogue.not_regenerated().items():
            print(f"not regenerated: {name}: {why}")
    if grids:
        print(f"\n{'grid search (opt-in)':<32}{'runs':>6}{'hours':>12}")
        for name in catalogue.grid_names():
            runs = catalogue.grid(name)
            print(f"{name:<32}{len(runs):>6}{cost.of_runs(catalogue, runs).hours:>12,.1f}")
        print('Run one with `grids: ["paper/row@backbone"]` in the configuration; STS-B dev selects.')


@app.command()
def show(
    scale: Scale = "demo", only: Only = None, configfile: Files = None,
    csv: Annotated[bool, typer.Option("--csv", help="with --only: the long form, not the printed layout")] = False,
) -> None:  # fmt: skip
    """What a scale has to show so far, from the results on disk; with --only the tables themselves."""
    from clrepro.ledger import Records
    from clrepro.report import summary, tables
    from clrepro.report.common import COLUMNS

    catalogue = catalogue_of(scale, configfile, only)
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
        print(f"with the published numbers: {catalogue.table_folder(table) / table.name}.html, .md, .tex, .csv\n")


@app.command()
def report(scale: Scale = "demo", configfile: Files = None) -> None:
    """Write report.html, ledger.csv and claims.csv from whatever results are on disk; holes say how to fill them."""
    from clrepro.report import html, opening, summary

    catalogue = catalogue_of(scale, configfile)
    content = html.write(catalogue)
    cells = sum(sum(paper["verdicts"].values()) for paper in content["papers"])
    missing = sum(paper["verdicts"].get("missing", 0) for paper in content["papers"])
    print(f"{catalogue.report_files[-1]}: {len(content['runs'])} runs, {cells - missing} of {cells} cells filled")
    for broken in summary.skipped(content):
        print(broken)
    print(opening.state_in_words(content["state"]))


@app.command()
def claims(
    paper: Annotated[str | None, typer.Argument(help="only this paper's claims")] = None,
    scale: Scale = "demo",
    configfile: Files = None,
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
    catalogue = catalogue_of(scale, configfile)
    if paper and paper not in catalogue.config.papers:
        raise unknown("paper", paper, catalogue.config.papers)
    frame, _ = evaluate(catalogue)
    frame = frame[frame["paper"].eq(paper or frame["paper"])]
    for row in frame[frame["verdict"].eq(verdict or frame["verdict"])].itertuples():
        print(summary.claim(row))
    print(summary.counts(frame["verdict"]))
    if not opening.judges(catalogue):
        print(opening.why(catalogue))


@app.command()
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
    frame = check_all()
    frame = frame[frame["paper"].eq(paper or frame["paper"])]
    for row in frame[frame["verdict"].eq("fails") | (not failing)].itertuples():
        form = f", {row.form}" if row.form else ""
        print(
            f"{row.paper} {row.where}{form}: {row.verdict.upper()}\n  {row.statement}\n  {row.detail} ({row.checked})"
        )
    print(summary(frame))


@app.command()
def train(
    scale: Scale = "demo",
    configfile: Files = None,
    objective: Annotated[str | None, typer.Option(help="only runs of this objective")] = None,
    backbone: Annotated[str | None, typer.Option(help="only runs on this backbone")] = None,
    seed: Annotated[int | None, typer.Option(help="only this seed")] = None,
    mirror: Mirror = None,
    evaluate: Annotated[bool, typer.Option(help="also embed and evaluate")] = True,
) -> None:
    """Train (and evaluate) the chosen runs in this process, without Snakemake.

    On several GPUs of one machine: torchrun --nproc-per-node 4 -m clrepro.cli train ...; each process takes its part of
    every batch, negatives and gradients are those of the whole batch.
    """
    from clrepro import stages
    from clrepro.ledger.scores import score

    config = configuration.load(scale, configfile)
    catalogue = Catalogue(config.model_copy(update={"mirror": mirror} if mirror else {}))
    catalogue.check_inputs()
    runs = list(catalogue.runs)
    filters = {
        "objective": (objective, lambda run: run.group),
        "backbone": (backbone, lambda run: run.backbone.key),
        "seed": (seed, lambda run: run.seed),
    }
    for kind, (wanted, of) in filters.items():
        if wanted is not None:
            kept = [run for run in runs if of(run) == wanted]
            if not kept:
                raise unknown(
                    kind, str(wanted), {str(of(run)) for run in runs}, f"the chosen runs of the {scale} scale"
                )
            runs = kept
    detected = [run for run in runs if catalogue.tests(run, "detection")] if evaluate else []
    builds = [*{run.backbone.folder: run.backbone for run in runs}.values()]
    if detected:
        builds.append(catalogue.detection)
    if stages.is_first_process():
        for source in catalogue.sources():
            if not source.record.exists():
                stages.fetch(catalogue, source)
        for build in builds:
            if not all(file.exists() for file in build.records):
                stages.prepare(catalogue, build)
    else:
        stages.wait_for([catalogue.tasks.record, *(file for build in builds for file in build.records)])
    stages.train(catalogue, runs)
    if evaluate and stages.is_first_process():
        of_images = [run for run in runs if run.modality == "image"]
        runs = [run for run in runs if run.modality == "sentence"]
        if of_images:
            stages.embed(catalogue, of_images)
            stages.probe_images(catalogue, of_images)
        if detected:
            stages.detect(catalogue, detected)
        for run in of_images:
            (run.folder / "features.npz").unlink()
            files = ", ".join(catalogue.results(run)) or "no probe is asked of it"
            print(f"{run.backbone.key} {run.group} seed {run.seed}: {files} ({run.folder})")
        if not runs:
            return
        stages.embed(catalogue, runs)
        stages.sts(catalogue, runs)
        stages.transfer(catalogue, runs)
        for run in runs:
            (run.folder / "embeddings.npz").unlink()
            found = {kind: read_json(run.folder / f"{kind}.json")["rows"] for kind in ("sts", "transfer")}
            sts, accuracy = (score(f"{kind}/Avg", found) for kind in found)
            seed_text = f" seed {run.seed}" if run.objective else ""
            print(f"{run.backbone.key} {run.group}{seed_text}: STS {sts:.2f}, transfer {accuracy:.2f} ({run.folder})")


@app.command()
def objectives(
    name: Annotated[str | None, typer.Argument(help="print the page of this one")] = None,
    docs: Annotated[bool, typer.Option("--docs", help="rewrite docs/objectives/, changed x-rays too")] = False,
) -> None:  # fmt: skip
    """List the objectives with variants and parameters, or print one objective's page."""
    from clrepro.objectives import names, signatures
    from clrepro.report import objective_pages

    if docs:
        import torch
        from tqdm import tqdm

        from clrepro.report import xrays

        torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
        xrays.write(lambda labels: tqdm(labels, desc="x-rays", disable=None))
        objective_pages.write(ROOT / "docs" / "objectives")
    elif name:
        print(objective_pages.page(name), end="")
    else:
        for known in names():
            for variant, parameters in signatures(known).items():
                defaults = ", ".join(f"{key}={parameter.text()}" for key, parameter in parameters.items())
                print(f"{known:<22}{variant:<18}{defaults}")


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def xray(
    context: typer.Context,
    loss: Annotated[str, typer.Argument(help="an objective's name, or file.py:Name or package.module:Name of a loss")],
    variant: Annotated[str | None, typer.Option(help="written, released, ... of the library's objectives")] = None,
    out: Annotated[Path, typer.Option(help="folder for the picture and its numbers")] = Path("results/xray"),
) -> None:
    """Show what the gradient of a loss does: dissipation, weight, ratio, and what is none of them.

    Further options are the loss's own parameters, as in: clrepro xray my_loss.py:MyLoss --temperature 0.05

    A loss is a class or a function, called as loss(view1, view2) with (N, D) tensors. The command prints a verdict and
    writes a figure (SVG, PNG) and its numbers (csv), in seconds.
    """
    import torch
    from tqdm import tqdm

    from clrepro.xray.picture import write
    from clrepro.xray.picture import xray as examine
    from clrepro.xray.subject import subject

    torch.set_num_threads(1)  # the matrices are small: threads would wait for each other
    given = own_parameters(context.args)
    chosen = subject(loss, variant, given)
    result = examine(chosen, lambda batches: tqdm(batches, desc="batches", leave=False, disable=None))
    print(result.title)
    for sentence in result.verdict:
        print(f"  {sentence}")
    settings = (f"{key}={str(value).replace('/', '_')}" for key, value in given.items())
    label = "-".join(filter(None, [chosen.name, chosen.variant, *settings]))
    try:
        files = write(result, out / label)
    except OSError as failure:
        raise UserError(f"--out {out}: cannot write there ({failure.strerror})") from None
    print(f"figure: {', '.join(map(str, files))}")


def own_parameters(words: list[str]) -> dict[str, float | int | bool | str | None]:
    """{name: value} from the words ``--name value`` or ``--name=value``, numbers, true, false and none being such."""
    found = {}
    rest = [part for word in words for part in (word.split("=", 1) if word.startswith("--") else [word])]
    while rest:
        key = rest.pop(0)
        if not key.startswith("--") or not rest or rest[0].startswith("--"):
            raise UserError(f"'{key}' is no parameter of a loss: write --name value")
        found[key[2:].replace("-", "_")] = own_value(rest.pop(0))
    return found


def own_value(word: str) -> float | int | bool | str | None:
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return {"true": True, "false": False, "none": None, "null": None}.get(word.lower(), word)


@app.command()
def senteval(
    model: Annotated[
        str, typer.Argument(help="a model folder or hub name, or stored embeddings (.npz, or .npy + .txt)")
    ],
    root: Annotated[Path, typer.Option(help="the folder that holds STS/, SICK/, MR/ ...")],
    protocol: Annotated[str, typer.Option(help="test (10 folds), fast (5 folds) or dev (development scores)")] = "test",
    pooling: Annotated[
        str | None,
        typer.Option(help="cls_before_pooler, cls, avg, avg_top2 or avg_first_last, for a transformers model"),
    ] = None,
    tasks: Annotated[str | None, typer.Option(help="SentEval's names with commas between them; all fourteen")] = None,
    out: Annotated[
        Path | None, typer.Option(help="stem of the json, csv and npz files; under results/senteval")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps")] = "auto",
    sentences: Annotated[
        Path | None, typer.Option(help="only write the tasks' sentences to this file, for embeddings made elsewhere")
    ] = None,
) -> None:
    """Evaluate any sentence encoder on SentEval, exactly as SimCSE's fork does, and print its two tables.

    Writes json and csv with all scores, and an npz file with the cosine of every STS pair. Besides the fourteen tasks:
    SST5, SICKEntailment, STSBenchmark-finetune, SICKRelatedness-finetune.
    """
    from clrepro.evaluation.senteval import DEFAULT_TASKS, evaluate, tables
    from clrepro.evaluation.senteval.encoders import load_encoder
    from clrepro.evaluation.senteval.files import distinct_sentences
    from clrepro.evaluation.senteval.pairs import SPLITS
    from clrepro.training.loop import choose_device

    chosen = [task.strip() for task in tasks.split(",")] if tasks else None
    try:
        if sentences is not None:
            needed = distinct_sentences(root, tuple(chosen or DEFAULT_TASKS), SPLITS)
            sentences.write_text("".join(f"{sentence}\n" for sentence in needed), "utf-8")
            print(f"{sentences}: {len(needed):,} sentences, one a line")
            return
        place = choose_device(device).type
        encoder = load_encoder(model, pooling, device)
        label = "-".join(filter(None, [re.sub(r"[^\w.]+", "-", model).strip("-."), pooling, protocol]))
        stem = out or Path("results/senteval") / label
        stem.parent.mkdir(parents=True, exist_ok=True)
        cosines = Path(f"{stem}.cosines.npz")
        frame = evaluate(encoder, root, chosen, protocol, "cuda" if place == "cuda" else "cpu", cosines)
        print(f"{encoder.origin}, protocol {protocol}\n\n{tables.text(frame)}")
        files = tables.write(frame, stem, {"model": encoder.origin, "protocol": protocol, "root": str(root)})
        print(f"all scores: {', '.join(map(str, files))}" + (f"; STS cosines: {cosines}" if cosines.exists() else ""))
    except OSError as failure:
        raise UserError(f"{failure.filename or ''} {failure.strerror or failure}".strip()) from None


@app.command()
def records(scale: Scale = "demo", configfile: Files = None) -> None:
    """Write Snakemake's job records to results/<scale>/provenance.jsonl, as the workflow itself does at its end."""
    from clrepro.workflow import records

    catalogue = catalogue_of(scale, configfile)
    records.save(catalogue)
    print(records.stored(catalogue))


@app.command()
def verify(scale: Scale = "demo", configfile: Files = None) -> None:
    """Compare data, models and results on disk with every sha256 that the scale's records state."""
    from clrepro.workflow.verify import verify as compare

    count, problems = compare(catalogue_of(scale, configfile))
    for problem in problems:
        print(problem)
    print(f"{count} files compared with their sha256, {len(problems)} missing or changed")
    if problems:
        sys.exit(1)


@app.command()
def sources(scale: Scale = "demo", configfile: Files = None, mirror: Mirror = None) -> None:
    """List the data sources: where each one is now, size, licence, checksum, url and place in the mirror."""
    from clrepro.sources.mirroring import place_of
    from clrepro.sources.source import sources as every

    folder = mirror or configuration.load(scale, configfile).mirror
    for source in every().values():
        print(f"{source.name}  ({source.megabytes:g} MB; {source.licence})\n  {source.what}")
        print(f"  now: {place_of(source, folder)}")
        print(f"  url: {source.url or '-'} at {source.revision}\n  mirror: {source.mirror or '-'}")
        print(f"  sha256: {source.sha256 or source.checked}")


@app.command("mirror")
def mirror_command(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the mirror: a folder with room for all of it")],
    scale: Scale = "demo",
    configfile: Files = None,
    check: Annotated[bool, typer.Option("--check", help="only verify what is there; needs no network")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only list what would be downloaded, with sizes")] = False,
) -> None:
    """Download all that a scale needs into DIR, once; with `mirror: DIR` nothing else needs the network.

    Interrupted downloads go on where they stopped, complete files are verified and skipped, DIR/manifest.json names
    each with its sha256, size, url and revision. What may not be downloaded automatically is named with its place.
    """
    from clrepro.sources import mirroring

    config = configuration.load(scale, configfile)
    needed = mirroring.needs(config, folder)
    act = mirroring.plan if dry_run else mirroring.check if check else mirroring.fill
    findings = []
    for finding in act(folder, needed):
        print(finding, flush=True)
        findings.append(finding)
    failed = sum(finding.fatal for finding in findings)
    lacking = sum(finding.state == "PUT IT THERE" for finding in findings)
    if not findings:
        print(f"The {config.scale} scale needs no data but what clrepro generates.")
    elif dry_run:
        print(f"{megabytes(mirroring.to_download(findings) / 1000)} to download into {folder}; nothing was done")
    elif failed:
        raise UserError(f"{failed} of {len(findings)} sources are not as they should be in {folder}; see above")
    else:
        ready = f"{len(findings) - lacking} of {len(findings)} sources are in {folder}"
        print(f"{ready}. Use them with: snakemake --cores all --configfile ... --config mirror={folder}")


@app.command("config")
def config_command(what: Annotated[str, typer.Argument(help="check, docs or schema")] = "check", scale: Scale = "demo",
                   configfile: Files = None) -> None:  # fmt: skip
    """Check a configuration; print its JSON schema; or rewrite docs/config.md and docs/config.schema.json."""
    if what == "schema":
        print(configuration.schema(), end="")
    elif what == "docs":
        for name, text in (
            ("config.md", configuration.reference()),
            ("config.schema.json", configuration.schema()),
        ):
            (ROOT / "docs" / name).write_text(text, "utf-8")
    elif what == "check":
        catalogue = catalogue_of(scale, configfile)
        catalogue.check_inputs()
        print(f"valid: {len(catalogue.tables)} tables, {len(catalogue.runs)} runs at {catalogue.config.scale} scale")
    else:
        raise unknown("action", what, ["check", "docs", "schema"])


def main() -> None:
    try:
        app()
    except UserError as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    except Interrupted as failure:
        print(failure, file=sys.stderr)
        sys.exit(Interrupted.EXIT_CODE)


if __name__ == "__main__":
    main()
