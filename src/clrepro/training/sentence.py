"""The sentence workload: dropout views of tokenised sentences, selection on STS-B dev."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.data.corpus import TokenisedCorpus
from clrepro.data.pairs import load_pairs
from clrepro.errors import UserError
from clrepro.evaluation.embed import embed, tokenise_for_embedding
from clrepro.evaluation.similarity import spearman_of_pairs
from clrepro.models.sentence import SentenceEncoder, save
from clrepro.training.loop import StopFlag, fit, seed_everything


class SentenceWorkload:
    """Two dropout views of every sentence from one forward pass of 2N interleaved rows."""

    def __init__(self, corpus: TokenisedCorpus, backbone: Path, settings: dict, seed: int, tasks: Path):
        from transformers import AutoTokenizer

        self.corpus, self.seed = corpus, seed
        self.batch_size = settings["batch_size"]
        if self.batch_size > len(corpus):
            raise UserError(
                f"batch_size {self.batch_size} is larger than the corpus of {len(corpus):,} sentences; lower "
                "`sentence.training.batch_size` or use more sentences"
            )
        self.tokenizer = AutoTokenizer.from_pretrained(backbone)
        self.model = SentenceEncoder(backbone, settings["pooling"], settings["head"], settings["freeze_embeddings"])
        if settings["dropout"] is not None:
            set_dropout(self.model.transformer, settings["dropout"])
        self.head_at_selection = settings["head_at_selection"]
        # a last batch of a single sentence has no negatives and is left out
        self.steps_per_epoch = math.ceil(len(corpus) / self.batch_size) - (len(corpus) % self.batch_size == 1)
        self.steps = max(1, math.ceil(settings["epochs"] * self.steps_per_epoch))
        self.epoch, self.order = -1, None
        self.development = {
            "stsb_dev": load_pairs(tasks, "STSBenchmark", "dev"),
            "sickr_dev": load_pairs(tasks, "SICKRelatedness", "dev"),
        }
        self.sentences = sorted({s for pairs in self.development.values() for s in (*pairs.first, *pairs.second)})
        self.tokens = tokenise_for_embedding(self.model, self.tokenizer, self.sentences)

    def order_of(self, step: int) -> np.ndarray:
        """The sentences of a step; the order of an epoch is drawn from seed and epoch alone."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self.epoch:
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
            self.epoch, self.order = epoch, torch.randperm(len(self.corpus), generator=generator).numpy()
        return self.order[position * self.batch_size : (position + 1) * self.batch_size]

    def views(self, model: nn.Module, step: int, device: torch.device) -> tuple[Tensor, Tensor]:
        # ids, mask: (N, T)
        batch = self.corpus.batch(self.order_of(step))
        ids, mask = (torch.from_numpy(part).to(device, non_blocking=True) for part in batch)
        # rows: view 1, view 2 of sentence 1, then of sentence 2, ...: dropout makes them differ
        vectors = model(ids.repeat_interleave(2, 0), mask.repeat_interleave(2, 0), with_head=True)
        return vectors[0::2], vectors[1::2]

    def select(self, device: torch.device) -> dict[str, float]:
        """Spearman correlation on STS-B dev, which selects, and on SICK-R dev, for the record."""
        vectors = embed(self.model, self.tokens, device, with_head=self.head_at_selection)
        rows = {sentence: row for row, sentence in enumerate(self.sentences)}
        return {name: spearman_of_pairs(vectors, rows, pairs) for name, pairs in self.development.items()}

    def export(self, folder: Path) -> None:
        save(self.model, self.tokenizer, folder)


def train_encoder(
    objective: Callable,
    settings: dict,
    seed: int,
    *,
    tokens: Path,
    backbone: Path,
    tasks: Path,
    device: str,
    state: Path,
    stop: StopFlag,
    title: str = "",
) -> dict:
    """Train a sentence encoder with one seed; the best checkpoint is left in ``state/best-<step>``.

    settings: the fields of a recipe. tokens: folder of the tokenised corpus. tasks: folder of the evaluation
    sets. Returns what the loop returns: steps, best step and score, history, device.
    """
    seed_everything(seed)
    workload = SentenceWorkload(TokenisedCorpus(tokens), backbone, settings, seed, tasks)
    return fit(workload, objective, settings, device, state, stop, title)


def set_dropout(module: nn.Module, probability: float) -> None:
    """Change every dropout of a model, in attention (which may hold a plain number) and elsewhere."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = probability
        elif isinstance(getattr(part, "dropout_prob", None), float):
            part.dropout_prob = probability
