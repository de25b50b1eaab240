"""A training step of a sentence encoder on a CPU: ours against three others, same text, batches, optimiser, precision.

    python benchmarks/sentences.py CORPUS [--shapes 2x128 4x256 6x384] [--poolings cls avg] [--steps 10] [--rounds 3]
                                   [--threads 1]

CORPUS: a text file of one sentence a line (.xz too). A WordPiece vocabulary is made of its first 30,000 lines; encoders
have random weights in BERT's shapes, 6x384 is MiniLM-L6's. Every turn is a whole training of as many steps as asked
for, at batch 64 and 32 tokens, by

- ours, as `clrepro train` does it: the linear layers see real tokens alone;
- ours, padded: the same training with the forward of transformers, as it was before;
- sentence-transformers' trainer with its ranking loss on pairs of a sentence and itself;
- a plain loop after SimCSE's description: two views in one forward, a head, cross-entropy over cosines, clipping.

A step's time is that between two calls of the loss, so that start-up, evaluation and export are in none. The
contestants take turns; printed are medians over all turns and the ratios of ours, of the wall clock and of the
process's CPU time, which other work on the machine lengthens less. The trainer needs `datasets` and what it imports
(requirements.txt).
"""

import argparse
import contextlib
import lzma
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import islice
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch
from torch import nn
from transformers import BertConfig, BertModel
from transformers.utils import logging

from clrepro import objectives
from clrepro.demo.sentences import write_senteval
from clrepro.modalities.sentence import backbone, corpus, packing
from clrepro.modalities.sentence.training import train_encoder
from clrepro.training.loop import StopFlag

SHAPES = {"2x128": (2, 128, 2), "4x256": (4, 256, 4), "6x384": (6, 384, 12)}  # layers, width, heads
BATCH, LENGTH, RATE, TEMPERATURE, CLIP = 64, 32, 3e-5, 0.05, 1.0
SETTINGS = dict(
    head="tanh", head_at_selection=False, freeze_embeddings=False, dropout=None, batch_size=BATCH, learning_rate=RATE,
    epochs=1.0, evaluate_every=10**6, max_length=LENGTH, precision="fp32", weight_decay=0.0, clip=CLIP,
    optimiser="adamw", held_out=0.0, checkpoint_every=None,
)  # fmt: skip


class Clock:
    """The times at which a loss is called: of the wall's clock and of the process's."""

    def __init__(self):
        self.ticks: list[tuple[float, float]] = []

    def timed(self, loss: Callable) -> Callable:
        def called(*args, **kwargs):
            self.ticks.append((time.perf_counter(), time.process_time()))
            return loss(*args, **kwargs)

        return called

    def seconds(self) -> list[tuple[float, float]]:
        """Wall and CPU of every step but the first, which warms up."""
        pairs = zip(self.ticks[1:], self.ticks[2:], strict=False)
        return [(after[0] - before[0], after[1] - before[1]) for before, after in pairs]


def ours(places: dict[str, Path], pooling: str, clock: Clock, *, models: set[str]) -> None:
    before, packing.MODELS = packing.MODELS, models
    try:
        with tempfile.TemporaryDirectory() as state, StopFlag() as stop:
            loss = clock.timed(objectives.make("infonce", temperature=TEMPERATURE))
            train_encoder(
                loss, {**SETTINGS, "pooling": pooling}, 0, tokens=places["tokens"], backbone=places["model"],
                tasks=places["tasks"], device="cpu", state=Path(state), stop=stop,
            )  # fmt: skip
    finally:
        packing.MODELS = before


def trainer(places: dict[str, Path], sentences: list[str], pooling: str, clock: Clock) -> None:
    """sentence-transformers' trainer."""
    from datasets import Dataset
    from sentence_transformers import SentenceTransformer, SentenceTransformerTrainer, models
    from sentence_transformers.sentence_transformer.losses import MultipleNegativesRankingLoss
    from sentence_transformers.sentence_transformer.training_args import SentenceTransformerTrainingArguments

    network = models.Transformer(str(places["model"]), max_seq_length=LENGTH)
    pooled = models.Pooling(network.get_embedding_dimension(), pooling_mode="mean" if pooling == "avg" else "cls")
    model = SentenceTransformer(modules=[network, pooled], device="cpu")
    loss = MultipleNegativesRankingLoss(model, scale=1 / TEMPERATURE)
    loss.forward = clock.timed(loss.forward)
    with tempfile.TemporaryDirectory() as folder:
        arguments = SentenceTransformerTrainingArguments(
            folder, per_device_train_batch_size=BATCH, num_train_epochs=1, learning_rate=RATE, max_grad_norm=CLIP,
            save_strategy="no", report_to="none", disable_tqdm=True, use_cpu=True, logging_strategy="no",
        )  # fmt: skip
        pairs = Dataset.from_dict({"anchor": sentences, "positive": sentences})
        SentenceTransformerTrainer(model, arguments, train_dataset=pairs, loss=loss).train()


def plain(places: dict[str, Path], pooling: str, clock: Clock) -> None:
    """A loop of its own, without recording, selection or saving."""
    data = corpus.TokenisedCorpus(places["tokens"])
    model = BertModel.from_pretrained(places["model"], add_pooling_layer=False).train()
    width = model.config.hidden_size
    head = nn.Sequential(nn.Linear(width, width), nn.Tanh())
    parameters = [*model.parameters(), *head.parameters()]
    optimiser = torch.optim.AdamW(parameters, RATE, weight_decay=0.0, fused=True)

    def loss(first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
        cosines = nn.functional.cosine_similarity(first[:, None], second[None], dim=-1) / TEMPERATURE
        return nn.functional.cross_entropy(cosines, torch.arange(len(first)))

    loss = clock.timed(loss)
    for rows in torch.randperm(len(data)).split(BATCH):
        ids, mask = (torch.from_numpy(part).repeat(2, 1) for part in data.batch(rows.numpy()))
        states = model(ids, attention_mask=mask).last_hidden_state
        weights = mask[..., None].float()
        vectors = head((states * weights).sum(1) / weights.sum(1) if pooling == "avg" else states[:, 0])
        value = loss(*vectors.chunk(2))
        optimiser.zero_grad()
        value.backward()
        nn.utils.clip_grad_norm_(parameters, CLIP)
        optimiser.step()


def made(folder: Path, shape: str, tokenizer, tokens: Path) -> dict[str, Path]:
    layers, width, heads = SHAPES[shape]
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=width, num_hidden_layers=layers, num_attention_heads=heads,
        intermediate_size=4 * width,
    )  # fmt: skip
    place = folder / shape
    BertModel(config, add_pooling_layer=False).save_pretrained(place)
    tokenizer.save_pretrained(place)
    return {"model": place, "tokens": tokens, "tasks": folder / "tasks"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--poolings", nargs="+", choices=("cls", "avg"), default=["cls", "avg"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    opened = lzma.open if asked.corpus.suffix == ".xz" else open
    with opened(asked.corpus, "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in islice(file, 30_000)]
    sentences = lines[: BATCH * asked.steps]
    with tempfile.TemporaryDirectory() as temporary, open(os.devnull, "w") as nowhere:
        folder = Path(temporary)
        tokenizer = backbone.make_tokenizer(lines, 30_522)
        corpus.tokenise(sentences, tokenizer, LENGTH, folder / "tokens")
        write_senteval(folder / "tasks")
        data = corpus.TokenisedCorpus(folder / "tokens")
        real = sum(data.batch(rows.numpy())[1].mean() for rows in torch.randperm(len(data)).split(BATCH)) / asked.steps
        print(f"{len(sentences)} sentences of {asked.corpus.name}, batches of {BATCH}, {asked.threads} threads; "
              f"{1 - real:.0%} of the positions are padding")  # fmt: skip
        for shape in asked.shapes:
            places = made(folder, shape, tokenizer, folder / "tokens")
            for pooling in asked.poolings:
                contestants = {
                    "ours": partial(ours, places, pooling, models=packing.MODELS),
                    "ours, padded": partial(ours, places, pooling, models=set()),
                    "sentence-transformers": partial(trainer, places, sentences, pooling),
                    "plain loop": partial(plain, places, pooling),
                }
                seconds: dict[str, list[tuple[float, float]]] = {name: [] for name in contestants}
                for _ in range(asked.rounds):
                    for name, run in contestants.items():
                        clock = Clock()
                        with contextlib.redirect_stdout(nowhere), contextlib.redirect_stderr(nowhere):
                            run(clock)
                        seconds[name] += clock.seconds()
                medians = {name: [*map(statistics.median, zip(*times, strict=True))] for name, times in seconds.items()}
                for name, (wall, cpu) in medians.items():
                    ratios = [ours / its for ours, its in zip(medians["ours"], (wall, cpu), strict=True)]
                    print(f"{shape}, {pooling}: {name:<22}{1000 * wall:8.1f} ms a step; ours / it {ratios[0]:.2f}; "
                          f"CPU {1000 * cpu:8.1f} ms, {ratios[1]:.2f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
