"""``clrepro senteval``: the evaluation of any sentence encoder."""

import re
from pathlib import Path
from typing import Annotated

import typer

from clrepro.errors import UserError


def senteval(
    model: Annotated[
        str, typer.Argument(help="a model folder or hub name, or stored embeddings (.npz, or .npy + .txt)")
    ],
    root: Annotated[Path, typer.Option(help="the folder that holds STS/, SICK/, MR/ ...")],
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
    from clrepro.device import choose_device
    from clrepro.evaluation.senteval import DEFAULT_TASKS, evaluate, tables
    from clrepro.evaluation.senteval.encoders import load_encoder
    from clrepro.evaluation.senteval.files import distinct_sentences
    from clrepro.evaluation.senteval.pairs import SPLITS

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
