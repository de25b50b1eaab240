"""Every distinct test sentence, embedded once per checkpoint."""

from pathlib import Path

import numpy as np
import torch
from transformers import AutoTokenizer

from clrepro.console import say
from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.evaluation.senteval.embed import embed as embed_tokens
from clrepro.evaluation.senteval.embed import tokenise_for_embedding
from clrepro.evaluation.senteval.files import distinct_sentences
from clrepro.modalities.run import Run
from clrepro.modalities.sentence.encoder import SentenceEncoder
from clrepro.paths import digest, read_json, replacing
from clrepro.settings import Common
from clrepro.sources.source import source
from clrepro.training.export import checked_model


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    """Vectors (n, D) float32 of every run, with the sentences' digest, in folder/<run.name>.npz."""
    torch.set_num_threads(config.jobs.threads)
    device = choose_device(config.device)
    sentences = distinct_sentences(Path(read_json(source(config.sentence.tasks).record)["path"]))
    tokens: dict[Path, list] = {}
    for number, run in enumerate(runs, 1):
        model = SentenceEncoder(checked_model(run.record), run.recipe.pooling)
        if run.backbone.folder not in tokens:
            tokenizer = AutoTokenizer.from_pretrained(read_json(run.backbone.records[1])["path"])
            tokens[run.backbone.folder] = tokenise_for_embedding(model, tokenizer, sentences)
        say(f"[{number}/{len(runs)}] {run.folder}: {len(sentences):,} sentences")
        vectors = embed_tokens(model.to(device), tokens[run.backbone.folder], device, title=run.slug)
        if not np.isfinite(vectors).all():
            raise UserError(f"{run.folder}: the embeddings are not finite; the checkpoint is broken")
        with replacing(folder / f"{run.name}.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, vectors=vectors, sentences=digest(sentences))
