"""Embedding throughput on a CPU: our encoder against SentenceTransformer.encode, same model, same sentences.

    python benchmarks/embedding.py MODEL_FOLDER SENTEVAL_FOLDER [--sentences 2000] [--rounds 5] [--threads 2]

MODEL_FOLDER: a sentence-transformers model. SENTEVAL_FOLDER holds STS/, SICK/, MR/ ...; a random sample of its distinct
sentences is embedded. The contestants take turns, so that whatever else the machine does meets all of them alike; the
median of the rounds is printed, and the largest difference between the vectors.
"""

import argparse
import os
import statistics
import time
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")

import numpy as np
import torch

from clrepro.evaluation.senteval.encoders import load_encoder
from clrepro.evaluation.senteval.files import distinct_sentences

BATCH_SIZES = (32, 64, 128, 256)  # 32 is sentence-transformers' default


def main() -> None:
    from sentence_transformers import SentenceTransformer

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("senteval", type=Path)
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    settings = parser.parse_args()
    torch.set_num_threads(settings.threads)

    every = distinct_sentences(settings.senteval)
    rows = np.random.default_rng(0).choice(len(every), min(settings.sentences, len(every)), replace=False)
    sentences = [every[row] for row in rows]
    theirs = SentenceTransformer(str(settings.model), device="cpu")
    contestants = {
        f"SentenceTransformer.encode(batch_size={size})": lambda size=size: theirs.encode(sentences, batch_size=size)
        for size in BATCH_SIZES
    }
    contestants["clrepro"] = load_encoder(settings.model, device="cpu").encode
    contestants["clrepro"] = lambda encode=contestants["clrepro"]: encode(sentences)

    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    vectors = {}
    for number in range(settings.rounds + 1):
        for name, run in contestants.items():
            start = time.perf_counter()
            vectors[name] = run()
            if number:  # round 0 warms up
                seconds[name].append(time.perf_counter() - start)
    medians = {name: len(sentences) / statistics.median(times) for name, times in seconds.items()}

    print(
        f"{len(sentences)} of {len(every):,} distinct sentences, {settings.rounds} rounds, {settings.threads} threads"
    )
    for name, speed in medians.items():
        spread = [len(sentences) / times for times in (max(seconds[name]), min(seconds[name]))]
        print(f"{name:<44}{speed:>8.0f} sentences/s (from {spread[0]:.0f} to {spread[1]:.0f})")
    ours = medians.pop("clrepro")
    default = next(iter(medians))
    best = max(medians, key=medians.get)
    print(f"ours / default batch size: {ours / medians[default]:.2f}; ours / {best}: {ours / medians[best]:.2f}")
    difference = np.abs(vectors["clrepro"] - vectors[default]).max()
    print(f"largest difference between our vectors and theirs: {difference:.1e}")


if __name__ == "__main__":
    main()
