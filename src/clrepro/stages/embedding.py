"""Every distinct test sentence, or every image, once per checkpoint."""

from pathlib import Path

import numpy as np

from clrepro.catalogue import Catalogue, Run
from clrepro.catalogue.runs import digest
from clrepro.errors import UserError
from clrepro.evaluation.senteval.files import distinct_sentences
from clrepro.paths import read_json, replacing
from clrepro.stages.common import checked_model, inputs_digest, say


def embed(catalogue: Catalogue, runs: list[Run]) -> None:
    """Embed every distinct test sentence once per checkpoint; (n, D) float32, with the sentences' digest."""
    if runs[0].modality == "image":
        return embed_images(catalogue, runs)
    import torch
    from transformers import AutoTokenizer

    from clrepro.evaluation.senteval.embed import embed as embed_tokens
    from clrepro.evaluation.senteval.embed import tokenise_for_embedding
    from clrepro.modalities.sentence.encoder import SentenceEncoder
    from clrepro.training.loop import choose_device

    torch.set_num_threads(catalogue.config.jobs.threads)
    device = choose_device(catalogue.config.device)
    sentences = distinct_sentences(Path(read_json(catalogue.tasks.record)["path"]))
    tokens: dict[Path, list] = {}
    for number, run in enumerate(runs, 1):
        model = SentenceEncoder(checked_model(run), run.recipe.pooling)
        if run.backbone.folder not in tokens:
            tokenizer = AutoTokenizer.from_pretrained(read_json(run.backbone.records[1])["path"])
            tokens[run.backbone.folder] = tokenise_for_embedding(model, tokenizer, sentences)
        say(f"[{number}/{len(runs)}] {run.folder}: {len(sentences):,} sentences")
        vectors = embed_tokens(model.to(device), tokens[run.backbone.folder], device, title=run.slug)
        if not np.isfinite(vectors).all():
            raise UserError(f"{run.folder}: the embeddings are not finite; the checkpoint is broken")
        with replacing(run.folder / "embeddings.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, vectors=vectors, sentences=digest(sentences))


def embed_images(catalogue: Catalogue, runs: list[Run]) -> None:
    """Features of both splits once per checkpoint, (n, D) float32; not a number after a training that diverged."""
    import torch

    from clrepro.modalities.image import image_sets
    from clrepro.modalities.image.encoder import load
    from clrepro.modalities.image.features import augmentation_of_tests
    from clrepro.modalities.image.features import embed as embed_split
    from clrepro.training.loop import choose_device

    torch.set_num_threads(catalogue.config.jobs.threads)
    device = choose_device(catalogue.config.device)
    for number, run in enumerate(runs, 1):
        encoder = load(checked_model(run))
        augmentation = augmentation_of_tests(run.recipe.augmentation, run.backbone.encoder)
        say(f"[{number}/{len(runs)}] {run.folder}")
        features = {
            split: embed_split(encoder, image_sets.load(run.backbone.folder / split), augmentation, device)
            for split in image_sets.SPLITS
        }
        if "diverged" in read_json(run.record):
            features = {split: np.full_like(part, np.nan) for split, part in features.items()}
        elif not all(np.isfinite(part).all() for part in features.values()):
            raise UserError(f"{run.folder}: the features are not finite; the checkpoint is broken")
        with replacing(run.folder / "features.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, images=inputs_digest(catalogue, run), **features)
