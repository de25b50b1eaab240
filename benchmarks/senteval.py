"""SentEval's transfer tasks: ours against the one-by-one reference, in seconds and in accuracy.

    python benchmarks/senteval.py --root DIR --embeddings FILE.npz                 # seconds of all tasks
    python benchmarks/senteval.py --root DIR --embeddings FILE.npz --agreement     # accuracies, and their floor
    python benchmarks/senteval.py --root DIR --embeddings FILE.npz --drop-in       # through clrepro.senteval

DIR holds MR/, CR/, ...; FILE.npz holds `sentences` and `vectors`. The reference is tests/oracles/senteval.py: plain
torch, one classifier after the other, on one thread, as the original runs. For seconds it trains one of a task's
classifiers, before and after ours, and its time is multiplied up to all of them by optimiser steps. For agreement
both evaluate the same folds, and the reference does so again on embeddings perturbed by 1e-7: early stopping amplifies
rounding, and no implementation agrees with the reference more closely than the reference with itself. Through the
drop-in, a batcher looks the stored vectors up; reading the data, asking for the vectors and training count.
"""

import argparse
import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from clrepro import threads
from clrepro.evaluation.senteval import transfer
from clrepro.evaluation.senteval.classifier import STRENGTHS
from clrepro.evaluation.senteval.files import TRANSFER_TASKS, load_transfer
from clrepro.evaluation.senteval.protocols import PROTOCOLS
from clrepro.senteval import engine
from tests.oracles import senteval as reference

NESTED = ("MR", "CR", "SUBJ", "MPQA")


def load(root: Path, name: str, stored: dict[str, np.ndarray]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{split: (features, labels)} of a task."""
    rows = {sentence: row for row, sentence in enumerate(stored["sentences"])}
    return {
        split: transfer.features(part, stored["vectors"], rows) for split, part in load_transfer(root, name).items()
    }


def ours(parts: dict, protocol: str, outer: list[int] | None) -> tuple[dict[str, float], float, int]:
    """(scores, seconds, optimiser steps of the reference for the same classifiers)."""
    start = time.perf_counter()
    x, y = (np.concatenate(side) for side in zip(*parts.values(), strict=True))
    task = transfer.Task(x, y, protocol)
    steps = 0
    solve = task.solve

    def counted(problems):
        nonlocal steps
        fits = solve(problems)
        for problem, found in zip(problems, fits, strict=True):
            rows = len(problem.train) - (int(0.05 * len(problem.train)) if problem.dev is None else 0)
            steps += int(found.rounds.sum()) * task.protocol.passes * -(-rows // task.protocol.batch)
        return fits

    task.solve = counted
    if "all" in parts:
        scores = transfer.nested(task, outer)
    else:
        ends = np.cumsum([len(labels) for _, labels in parts.values()])
        places = {name: np.arange(end - len(parts[name][1]), end) for name, end in zip(parts, ends, strict=True)}
        scores = (transfer.with_dev if "dev" in parts else transfer.with_test)(task, **places)
    return scores, time.perf_counter() - start, steps


def referenced(parts: dict, name: str, protocol: str, outer: list[int] | None) -> dict[str, float]:
    classes = 1 + max(int(labels.max()) for _, labels in parts.values())
    if "all" in parts:
        return reference.nested(*parts["all"], classes, protocol, outer)
    return reference.evaluate(name, parts, protocol)


def step_seconds(parts: dict, protocol: str) -> float:
    """Seconds of one optimiser step of the reference, from its classifier on a fold of the task's training rows."""
    x, y = parts.get("all") or parts["train"]
    settings = PROTOCOLS[protocol]
    folds = transfer.folds_of(y, settings.folds, np.arange(len(y)))
    train, held = folds[0]
    start = time.perf_counter()
    *_, rounds = reference.fit(
        x[train], y[train], x[held], y[held], int(y.max()) + 1, STRENGTHS[1], settings.optimiser, settings.batch,
        settings.tenacity, settings.passes,
    )  # fmt: skip
    return (time.perf_counter() - start) / (rounds * settings.passes * -(-len(train) // settings.batch))


def speed(root: Path, stored: dict, protocol: str, tasks: list[str]) -> None:
    total = slow = 0.0
    warm = np.random.default_rng(0).normal(size=(40, 8)).astype(np.float32)
    transfer.nested(transfer.Task(warm, np.arange(40) % 2, protocol), [0])  # compiled, or read from the cache, once
    print(f"| task | ours, s | reference, s | times faster | steps | reference, us a step |\n|{'---|' * 6}")
    for name in tasks:
        parts = load(root, name, stored)
        before = step_seconds(parts, protocol)
        _, seconds, steps = ours(parts, protocol, None)
        each = (before + step_seconds(parts, protocol)) / 2
        total, slow = total + seconds, slow + steps * each
        theirs = steps * each
        print(f"| {name} | {seconds:.1f} | {theirs:.0f} | {theirs / seconds:.1f} | {steps:,} | {1e6 * each:.0f} |")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"\nall: ours {total:.1f} s on {threads.count()} threads, reference {slow:.0f} s on one thread,")
    print(f"{slow / total:.1f} times faster; peak memory {memory:.2f} GB, both loaded")


def perturbed(stored: dict, seed: int) -> dict[str, np.ndarray]:
    noise = np.random.default_rng(seed).standard_normal(stored["vectors"].shape).astype(np.float32)
    return {**stored, "vectors": stored["vectors"] + np.float32(1e-7) * noise}


def agreement(root: Path, stored: dict, protocol: str, tasks: list[str], outer: list[int], times: int) -> None:
    which = f"outer folds {outer} of MR, SUBJ, MPQA"
    print(f"{protocol}, {which}: ours, the reference, and the reference perturbed {times} times", flush=True)
    differences = []
    for name in tasks:
        parts = load(root, name, stored)
        folds = outer if name in NESTED and name != "CR" else None
        found, _, _ = ours(parts, protocol, folds)
        expected = referenced(parts, name, protocol, folds)
        floor = [referenced(load(root, name, perturbed(stored, k)), name, protocol, folds) for k in range(times)]
        texts = []
        for kind in ("dev", "test", "f1"):
            if found.get(kind) is not None:
                again = [f"{one[kind]:.2f}" for one in floor]
                texts.append(
                    f"{kind} {found[kind]:.2f}, {expected[kind]:.2f}" + (f" ({', '.join(again)})" if again else "")
                )
        differences.append([found[kind] - expected[kind] for kind in ("dev", "test")])
        print(f"{name}: {'; '.join(texts)}", flush=True)
    mean = np.mean(differences, axis=0)
    print(f"mean difference over {len(tasks)} tasks: dev {mean[0]:+.3f}, test {mean[1]:+.3f}")


def through_drop_in(root: Path, stored: dict, protocol: str, tasks: list[str]) -> None:
    rows = {sentence: row for row, sentence in enumerate(stored["sentences"])}
    one = PROTOCOLS[protocol]
    classifier = {"nhid": 0, "optim": one.optimiser, "batch_size": one.batch}
    classifier |= {"tenacity": one.tenacity, "epoch_size": one.passes}
    params = {"task_path": root, "usepytorch": True, "kfold": one.folds, "classifier": classifier}

    def batcher(params, batch):
        return stored["vectors"][[rows[" ".join(words)] for words in batch]]

    total = 0.0
    print(f"| task | drop-in, s | dev | test | directly, s | dev | test |\n|{'---|' * 7}")
    for name in tasks:
        start = time.perf_counter()
        found = engine.SE(params, batcher).eval(name)
        seconds = time.perf_counter() - start
        total += seconds
        scores, direct, _ = ours(load(root, name, stored), protocol, None)
        print(
            f"| {name} | {seconds:.1f} | {found['devacc']:.2f} | {found['acc']:.2f} "
            f"| {direct:.1f} | {scores['dev']:.2f} | {scores['test']:.2f} |",
            flush=True,
        )
    print(f"\nall, through the drop-in: {total:.1f} s on {threads.count()} threads")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=Path, required=True)
    parser.add_argument("--embeddings", type=Path, required=True)
    parser.add_argument("--protocol", choices=PROTOCOLS, default="test")
    parser.add_argument("--tasks", nargs="+", choices=TRANSFER_TASKS, default=list(TRANSFER_TASKS))
    parser.add_argument("--agreement", action="store_true")
    parser.add_argument("--drop-in", action="store_true")
    parser.add_argument("--perturbed", type=int, default=1, help="how often the reference is repeated, perturbed")
    parser.add_argument("--outer", nargs="+", type=int, default=[0, 1], help="outer folds that are compared")
    given = parser.parse_args()
    torch.set_num_threads(1)
    with np.load(given.embeddings) as file:
        stored = {"sentences": file["sentences"], "vectors": file["vectors"]}
    if given.agreement:
        agreement(given.root, stored, given.protocol, given.tasks, given.outer, given.perturbed)
    elif given.drop_in:
        through_drop_in(given.root, stored, given.protocol, given.tasks)
    else:
        speed(given.root, stored, given.protocol, given.tasks)


if __name__ == "__main__":
    main()
