"""The sentence workload: dropout views of tokenised sentences, selection on STS-B dev."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from clrepro.device import choose_device
from clrepro.errors import UserError
from clrepro.evaluation.senteval.embed import Padded, embed, pad_batches, tokenise_for_embedding
from clrepro.evaluation.senteval.pairs import load_pairs
from clrepro.evaluation.senteval.similarity import spearman_of_pairs
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.encoder import SentenceEncoder, save
from clrepro.training.epochs import Epochs
from clrepro.training.loop import StopFlag, Terms, fit, seed_everything
from clrepro.training.recorder import HELD_OUT_BATCH, HELD_OUT_SEED, HELD_OUT_SENTENCES, Recorder, undisturbed


class SentenceWorkload:
    """Two dropout views of every sentence from one forward pass of 2N interleaved rows."""

    keeps_last = False

    def __init__(self, corpus: TokenisedCorpus, backbone: Path, settings: dict, seed: int, tasks: Path):
        from transformers import AutoTokenizer

        self.corpus, self.seed = corpus, seed
        self.batch_size = settings["batch_size"]
        self.rows, self.held_out_rows = hold_out(len(corpus), settings.get("held_out") or 0.0)
        if self.batch_size > len(self.rows):
            less = f" less the {len(corpus) - len(self.rows):,} held out" if len(self.held_out_rows) else ""
            raise UserError(
                f"batch_size {self.batch_size} is larger than the corpus of {len(corpus):,} sentences{less}; lower "
                "`sentence.training.batch_size` or use more sentences"
            )
        self.tokenizer = AutoTokenizer.from_pretrained(backbone)
        self.model = SentenceEncoder(backbone, settings["pooling"], settings["head"], settings["freeze_embeddings"])
        if settings["dropout"] is not None:
            set_dropout(self.model.transformer, settings["dropout"])
        self.head_at_selection = settings["head_at_selection"]
        epochs = Epochs(len(self.rows), self.batch_size)
        self.steps_per_epoch, self.smallest_batch = epochs.steps, epochs.smallest_batch
        self.steps = epochs.steps_of(settings["epochs"])
        self.epoch, self.order = -1, None
        self.pairs = {
            "stsb_dev": load_pairs(tasks, "STSBenchmark", "dev"),
            "sickr_dev": load_pairs(tasks, "SICKRelatedness", "dev"),
        }
        sentences = sorted({s for pairs in self.pairs.values() for s in (*pairs.first, *pairs.second)})
        self.places = {sentence: place for place, sentence in enumerate(sentences)}
        self.tokens = tokenise_for_embedding(self.model, self.tokenizer, sentences)
        self.padded: Padded | None = None

    def order_of(self, step: int) -> np.ndarray:
        """The sentences of a step; the order of an epoch is drawn from seed and epoch alone."""
        epoch, position = divmod(step, self.steps_per_epoch)
        if epoch != self.epoch:
            generator = torch.Generator().manual_seed(self.seed * 1_000_003 + epoch)
            self.epoch, self.order = epoch, self.rows[torch.randperm(len(self.rows), generator=generator).numpy()]
        return self.order[position * self.batch_size : (position + 1) * self.batch_size]

    def terms(self, model: nn.Module, step: int, device: torch.device, part: int = 0, parts: int = 1) -> Terms:
        rows = np.array_split(self.order_of(step), parts)[part]
        return [(*self.two_views(model, rows, with_head=True), {})]

    def two_views(self, model: nn.Module, rows: np.ndarray, with_head: bool) -> tuple[Tensor, Tensor]:
        # ids, mask: (N, T); on the CPU: what depends on lengths is found there, without waiting for the device
        ids, mask = (torch.from_numpy(part) for part in self.corpus.batch(rows))
        # rows: view 1, view 2 of sentence 1, then of sentence 2, ...: dropout makes them differ
        vectors = model(ids.repeat_interleave(2, 0), mask.repeat_interleave(2, 0), with_head=with_head)
        return vectors[0::2], vectors[1::2]

    def embed(self, device: torch.device) -> np.ndarray:
        """The sentences of STS-B dev and SICK-R dev, (n, D) float32, before the head."""
        self.padded = self.padded or pad_batches(self.model, self.tokens, device)
        return embed(self.model, self.padded, device)

    @torch.no_grad()
    def select(self, vectors: np.ndarray, device: torch.device) -> dict[str, float]:
        """Spearman correlation on STS-B dev, which selects, and on SICK-R dev, for the record."""
        if self.head_at_selection and self.model.head is not None:
            vectors = self.model.head(torch.from_numpy(vectors).to(device)).cpu().numpy()
        return {name: spearman_of_pairs(vectors, self.places, pairs) for name, pairs in self.pairs.items()}

    def measure(self, recorder: Recorder, step: int, vectors: np.ndarray, device: torch.device) -> None:
        recorder.development(step, *self.development(vectors))
        with undisturbed(self.model, device), torch.no_grad():
            torch.manual_seed(HELD_OUT_SEED)
            self.model.train()
            recorder.held_out(step, self.held_out())

    def development(self, vectors: np.ndarray) -> tuple[Tensor, Tensor, Tensor]:
        """The pairs of STS-B dev."""
        pairs = self.pairs["stsb_dev"]
        first, second = ([self.places[text] for text in column] for column in (pairs.first, pairs.second))
        vectors = torch.from_numpy(vectors).double()
        return vectors[first], vectors[second], torch.tensor(pairs.gold, dtype=torch.float64)

    def held_out(self) -> Iterator[tuple[Tensor, Tensor]]:
        """Held-out sentences in full batches, each sentence twice; (N, D) before the head."""
        if not len(self.held_out_rows):
            return
        size = min(HELD_OUT_BATCH, len(self.held_out_rows))
        for start in range(0, len(self.held_out_rows) - size + 1, size):
            yield self.two_views(self.model, self.held_out_rows[start : start + size], with_head=False)

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
) -> dict | None:
    """Train a sentence encoder with one seed; the best checkpoint is left in ``state/best-<step>``.

    settings: the fields of a recipe. tokens: folder of the tokenised corpus. tasks: folder of the evaluation
    sets. Returns what the loop returns: steps, best step and score, history, device; None in all processes but
    the first.
    """
    seed_everything(seed)
    workload = SentenceWorkload(TokenisedCorpus(tokens), backbone, settings, seed, tasks)
    return fit(workload, objective, settings, device, state, stop, title)


def measure_encoder(settings: dict, *, tokens: Path, backbone: Path, tasks: Path, device: str, file: Path) -> None:
    """Write what would be recorded at step 0 of a training: the statistics of an encoder as it is."""
    workload = SentenceWorkload(TokenisedCorpus(tokens), backbone, {**settings, "head": None}, 0, tasks)
    place, recorder = choose_device(device), Recorder()
    workload.model.to(place)
    workload.measure(recorder, 0, workload.embed(place), place)
    recorder.write(file)


def hold_out(sentences: int, share: float) -> tuple[np.ndarray, np.ndarray]:
    """(rows to train on, held-out rows to measure on); the same split for every run on a corpus of this size.

    The first ``share`` of one fixed shuffle is held out, as li2024 does with 10 percent; of it only the first
    HELD_OUT_SENTENCES are measured.
    """
    order = np.random.default_rng(HELD_OUT_SEED).permutation(sentences)
    count = int(sentences * share)
    if share and count < 2:
        raise UserError(f"held_out {share:g} of {sentences:,} sentences leaves fewer than 2 to measure on")
    return np.sort(order[count:]), order[:count][:HELD_OUT_SENTENCES]


def set_dropout(module: nn.Module, probability: float) -> None:
    """Change every dropout of a model, in attention (which may hold a plain number) and elsewhere."""
    for part in module.modules():
        if isinstance(part, nn.Dropout):
            part.p = probability
        elif isinstance(getattr(part, "dropout_prob", None), float):
            part.dropout_prob = probability
