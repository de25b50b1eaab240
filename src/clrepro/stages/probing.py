"""Evaluate stored embeddings and features."""

from pathlib import Path

import numpy as np

from clrepro.catalogue import Catalogue, Run
from clrepro.catalogue.runs import digest
from clrepro.errors import UserError
from clrepro.evaluation.senteval.files import distinct_sentences
from clrepro.paths import read_json, write_json
from clrepro.stages.common import checked_model, inputs_digest, say


def probe_images(catalogue: Catalogue, runs: list[Run]) -> None:
    """Probe stored features, as far as tables and figures ask: rows [task, split, metric, value], and pictures."""
    import torch

    from clrepro.modalities.image import image_sets, pictures
    from clrepro.modalities.image.encoder import load
    from clrepro.modalities.image.features import Images, augmentation_of_tests
    from clrepro.modalities.image.probes import Features, rows
    from clrepro.training.loop import choose_device

    torch.set_num_threads(1)
    for number, run in enumerate(runs, 1):
        file = run.folder / "features.npz"
        with np.load(file) as stored:
            if stored["images"] != inputs_digest(catalogue, run):
                raise UserError(f"{file} holds features of other images than today's; delete it and embed again")
            vectors = {split: stored[split] for split in image_sets.SPLITS}
        sets = {split: image_sets.load(run.backbone.folder / split) for split in image_sets.SPLITS}
        labels = {split: part.labels for split, part in sets.items()}
        shown = augmentation_of_tests(run.recipe.augmentation, run.backbone.encoder)
        device = choose_device(catalogue.config.device) if run.probes_need_images else torch.device("cpu")
        seen = Images(lambda run=run: load(checked_model(run)), sets, shown, device)
        features = Features(vectors["train"], labels["train"], vectors["test"], labels["test"], seen)
        kinds = catalogue.kinds(run)
        settings, names = run.feature_probes, catalogue.feature_results(run)
        for name in names:
            kind = name.removesuffix(".json")
            if kind in pictures.PICTURES:
                shown = pictures.arrays(kind, features)
                content = {"arrays": shown, "rows": pictures.rows(kind, shown)}
            else:
                content = {"protocol": settings, "rows": rows(name, features, settings, kinds)}
            write_json(run.folder / name, content)
        say(f"[{number}/{len(runs)}] {run.folder}: {', '.join(names)}")


def sts(catalogue: Catalogue, runs: list[Run]) -> None:
    from clrepro.evaluation.senteval.sts import evaluate_sts

    probe(catalogue, runs, "sts.json", evaluate_sts)


def transfer(catalogue: Catalogue, runs: list[Run]) -> None:
    from clrepro.evaluation.senteval.transfer import evaluate_transfer

    probe(catalogue, runs, "transfer.json", evaluate_transfer, catalogue.config.sentence.protocol)


def probe(catalogue: Catalogue, runs: list[Run], name: str, evaluate, *settings: str) -> None:
    """Evaluate stored embeddings and write the rows [task, split, metric, value]."""
    root = Path(read_json(catalogue.tasks.record)["path"])
    sentences = distinct_sentences(root)
    for number, run in enumerate(runs, 1):
        file = run.folder / "embeddings.npz"
        with np.load(file) as stored:
            if stored["sentences"] != digest(sentences):
                raise UserError(f"{file} holds vectors of other sentences than today's; delete it and embed again")
            vectors = stored["vectors"]
        rows = [[*row[:3], round(row[3], 6)] for row in evaluate(vectors, sentences, root, *settings)]
        write_json(run.folder / name, {"tasks": catalogue.tasks.identity, "protocol": list(settings), "rows": rows})
        say(f"[{number}/{len(runs)}] {run.folder / name}")
