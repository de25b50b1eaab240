"""A client of SentEval as SimCSE and the papers after it write them: batcher, prepare, params, ``se.eval``, two tables.

    python benchmarks/simcse_client.py --model MODEL --task_path DIR [--mode test] [--tasks STS12 MR] [--out FILE.json]

It knows SentEval's documented interface and transformers, and nothing of clrepro but the one import. DIR holds
downstream/, or STS/, MR/ ... themselves. Sentence vectors are means over the last layer's tokens.
"""

import argparse
import json
import time

import torch
from tabulate import tabulate
from transformers import AutoModel, AutoTokenizer

from clrepro import senteval  # in place of: import senteval

STS = ["STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness"]
TRANSFER = ["MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC"]
CLASSIFIERS = {
    "fasttest": (5, {"nhid": 0, "optim": "rmsprop", "batch_size": 128, "tenacity": 3, "epoch_size": 2}),
    "test": (10, {"nhid": 0, "optim": "adam", "batch_size": 64, "tenacity": 5, "epoch_size": 4}),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True)
    parser.add_argument("--task_path", required=True)
    parser.add_argument("--mode", choices=CLASSIFIERS, default="test")
    parser.add_argument("--tasks", nargs="+", default=[*STS, *TRANSFER])
    parser.add_argument("--out")
    given = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model, tokenizer = AutoModel.from_pretrained(given.model).to(device), AutoTokenizer.from_pretrained(given.model)
    model.eval()

    def prepare(params, samples):
        return

    def batcher(params, batch):
        sentences = [" ".join(words) for words in batch]
        tokens = tokenizer(sentences, return_tensors="pt", padding=True).to(device)
        with torch.no_grad():
            hidden = model(**tokens).last_hidden_state
        mask = tokens["attention_mask"].unsqueeze(-1)
        return ((hidden * mask).sum(1) / mask.sum(1)).cpu()

    folds, classifier = CLASSIFIERS[given.mode]
    params = {"task_path": given.task_path, "usepytorch": True, "kfold": folds, "classifier": classifier}
    results, seconds = {}, {}
    for task in given.tasks:
        start = time.perf_counter()
        se = senteval.engine.SE(params, batcher, prepare)
        results[task] = se.eval(task)
        seconds[task] = time.perf_counter() - start
        print(f"{task}: {seconds[task]:.0f} s", flush=True)

    scores = {}
    for task, result in results.items():
        if task in STS[:5]:
            scores[task] = 100 * result["all"]["spearman"]["all"]
        elif task in STS:
            scores[task] = 100 * result["test"]["spearman"].correlation
        else:
            scores[task] = result["acc"]
    for names in (STS, TRANSFER):
        if row := {task: f"{scores[task]:.2f}" for task in names if task in scores}:
            print(tabulate([list(row.values())], headers=list(row), tablefmt="pretty", disable_numparse=True))
    if given.out:
        with open(given.out, "w", encoding="utf-8") as file:
            json.dump({"scores": scores, "seconds": seconds}, file, indent=1)


if __name__ == "__main__":
    main()
