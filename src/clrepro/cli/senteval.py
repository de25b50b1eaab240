"""``clrepro senteval``: the evaluation of any sentence encoder."""

import re
from pathlib import Path
from typing import Annotated

import typer

from clrepro.cli.options import Files, Mirror
from clrepro.errors import UserError


def senteval(
    model: Annotated[
        str,
        typer.Argument(
            help="a model folder or hub name, stored embeddings (.npz, or .npy + .txt), or a function (module:encode)"
        ),
    ],
    root: Annotated[
        Path | None, typer.Option(help="the folder that holds STS/, SICK/, MR/ ...; without it the data are fetched")
    ] = None,
    protocol: Annotated[str, typer.Option(help="test (10 folds), fast (5 folds) or dev (development scores)")] = "test",
    pooling: Annotated[
        str | None,
        typer.Option(
            help="for a transformers model: cls (its first token; SimCSE's cls_before_pooler), pooler (its pooler's "
            "output; SimCSE's cls), avg, avg_top2 or avg_first_last"
        ),
    ] = None,
    tasks: Annotated[str | None, typer.Option(help="SentEval's names with commas between them; all fourteen")] = None,
    out: Annotated[
        Path | None, typer.Option(help="stem of the json, csv and npz files, and of MTEB's; under results/senteval")
    ] = None,
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps")] = "auto",
    sentences: Annotated[
        Path | None, typer.Option(help="only write the tasks' sentences to this file, for embeddings made elsewhere")
    ] = None,
    mirror: Mirror = None,
    configfile: Files = None,
) -> None:
    """Evaluate any sentence encoder on SentEval, exactly as SimCSE's fork does, and print its two tables.

    Without --root, SentEval's data are taken from the working directory or from ~/.cache/clrepro; where they are in
    neither, they are fetched to the latter, once, from the mirror (--mirror, or that of --configfile) or by their url.

    Writes json and csv with all scores, an npz file with the cosine of every STS pair, and the STS scores as MTEB's
    result files. Besides the fourteen tasks: SST5, SICKEntailment, STSBenchmark-finetune, SICKRelatedness-finetune.
    """
    from clrepro.device import choose_device
    from clrepro.evaluation.senteval import DEFAULT_TASKS, evaluate, tables
    from clrepro.evaluation.senteval.encoders import load_encoder
    from clrepro.evaluation.senteval.files import distinct_sentences
    from clrepro.evaluation.senteval.pairs import SPLITS

    chosen = [task.strip() for task in tasks.split(",")] if tasks else None
    try:
        folder = mirror if root or mirror else mirror_of(configfile)
        data, about = (root, {"data": str(root)}) if root else fetched(folder)
        if sentences is not None:
            needed = distinct_sentences(data, tuple(chosen or DEFAULT_TASKS), SPLITS)
            sentences.write_text("".join(f"{sentence}\n" for sentence in needed), "utf-8")
            print(f"{sentences}: {len(needed):,} sentences, one a line")
            return
        place = choose_device(device).type
        encoder = load_encoder(mirrored(model, folder), pooling, device)
        label = "-".join(filter(None, [re.sub(r"[^\w.]+", "-", model).strip("-."), pooling]))
        stem = out or Path("results/senteval") / f"{label}-{protocol}"
        stem.parent.mkdir(parents=True, exist_ok=True)
        cosines = Path(f"{stem}.cosines.npz")
        cosines.unlink(missing_ok=True)  # an earlier evaluation's
        frame = evaluate(encoder, data, chosen, protocol, "cuda" if place == "cuda" else "cpu", cosines)
        print(f"{encoder.origin}, protocol {protocol}\n\n{tables.text(frame)}")
        about = {"model": encoder.origin, "revision": encoder.revision, "protocol": protocol, **about}
        files = tables.write(frame, stem, about)
        print(f"all scores: {', '.join(map(str, files))}" + (f"; STS cosines: {cosines}" if cosines.exists() else ""))
        if cosines.exists():
            name = model if encoder.revision and not pooling else label
            write_for_mteb(cosines, Path(f"{stem}.mteb"), name, encoder.revision, about["data"])
    except OSError as failure:
        raise UserError(f"{failure.filename or ''} {failure.strerror or failure}".strip()) from None


def mirror_of(configfile: list[Path] | None) -> str | None:
    from clrepro import config as configuration

    return configuration.load("demo", configfile).mirror


def fetched(mirror: str | None) -> tuple[Path, dict[str, str]]:
    """SentEval's folder, and what the results say of it."""
    from clrepro.sources.evaluation_sets import senteval as fetch

    found = fetch(mirror)
    return found.root, {"data": found.source, "data_sha256": found.sha256}


def mirrored(model: str, mirror: str | None) -> str:
    """The folder of a model that the mirror has, else its name."""
    from clrepro.console import say
    from clrepro.sources.source import sources

    named = [one for one in sources().values() if one.kind == "huggingface" and model in (one.name, one.url)]
    folder = named[0].in_mirror(mirror) if named and not Path(model).exists() else None
    if folder is None:
        return model
    say(f"{model}: {folder} (revision {named[0].revision[:8]}, {named[0].licence})")
    return str(folder)


def write_for_mteb(cosines: Path, folder: Path, name: str, revision: str | None, data: str) -> None:
    from clrepro.evaluation.senteval import mteb_files
    from clrepro.evaluation.senteval.program import kept_pairs

    if written := mteb_files.write(kept_pairs(cosines), folder, name, revision, data):
        print(f"MTEB's result files: {written[0].parent}")
