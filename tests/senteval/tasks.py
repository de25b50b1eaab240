"""A few sentences in the formats of SentEval's files, and what they say, kept apart from the files."""

import json

import numpy as np

WORDS = [
    *("the", "a", "of", "dog", "cat", "man", "woman", "runs", "sleeps", "eats"),
    *("red", "blue", "small", "house", "garden", "guitar", "plays", "with", "quick", "bright"),
]
SUBSETS = {
    "STS12": {"MSRpar": 9, "MSRvid": 6, "SMTeuroparl": 5, "surprise.OnWN": 7, "surprise.SMTnews": 4},
    "STS13": {"FNWN": 5, "headlines": 8, "OnWN": 6},
}
SPLITS = {"train": 80, "dev": 8, "test": 10}  # more than a batch of the regressor
SICK_FILES = {"train": "SICK_train.txt", "dev": "SICK_trial.txt", "test": "SICK_test_annotated.txt"}
SENTIMENTS = {"dev": 18, "train": 40, "test": 22}


def sentence(numbers, topic=None):
    """Words at random; of a topic more of one half of them."""
    chances = np.ones(len(WORDS))
    if topic is not None:
        chances[topic::2] = 3
    return " ".join(numbers.choice(WORDS, numbers.integers(3, 9), p=chances / chances.sum()))


def write_lines(file, lines, encoding="utf-8"):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in lines), encoding)


def write(folder):
    """Write folder/downstream; return {task: {subset or split: rows}}, a row (one, other, gold) or (text, label)."""
    numbers, root, counts, told = np.random.default_rng(5), folder / "downstream", {}, {}

    def pairs(count, low):
        return [(sentence(numbers), sentence(numbers), round(numbers.uniform(low, 5), 2)) for _ in range(count)]

    def put(name, lines, rows, encoding="utf-8"):
        write_lines(root / name, lines, encoding)
        counts[name] = len(rows)

    for task, sizes in SUBSETS.items():
        told[task] = {subset: pairs(size, 0) for subset, size in sizes.items()}
        for subset, rows in told[task].items():
            unrated = ["one more pair\tthat nobody rated"]
            put(f"STS/{task}-en-test/STS.input.{subset}.txt", [*unrated, *map("\t".join, [r[:2] for r in rows])], rows)
            write_lines(root / f"STS/{task}-en-test/STS.gs.{subset}.txt", ["", *(row[2] for row in rows)])
    told["STSBenchmark"] = {split: pairs(size, 0) for split, size in SPLITS.items()}
    told["SICKRelatedness"] = {split: pairs(size, 1) for split, size in SPLITS.items()}
    for split, rows in told["STSBenchmark"].items():
        lines = [f"main\tfile\t2012\t{n:04}\t{gold}\t{one}\t{other}" for n, (one, other, gold) in enumerate(rows)]
        put(f"STS/STSBenchmark/sts-{split}.csv", lines, rows)
    head = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    for split, rows in told["SICKRelatedness"].items():
        lines = [f"{n}\t{one}\t{other}\t{gold}\tNEUTRAL" for n, (one, other, gold) in enumerate(rows)]
        put(f"SICK/{SICK_FILES[split]}", [head, *lines], rows)
    # one line in a hundred may be empty
    sides = {1: [sentence(numbers, 1) for _ in range(50)], 0: ["", *(sentence(numbers, 0) for _ in range(99))]}
    for label, name in ((1, "MR/rt-polarity.pos"), (0, "MR/rt-polarity.neg")):
        put(name, sides[label], sides[label], "latin-1")
    told["MR"] = {"all": [(text, label) for label in (1, 0) for text in sides[label]]}
    told["SST2"] = {split: labelled(numbers, size) for split, size in SENTIMENTS.items()}
    for split, rows in told["SST2"].items():
        put(f"SST/binary/sentiment-{split}", [f"{text}\t{label}" for text, label in rows], rows)
    told["MRPC"] = {"train": paraphrases(numbers, 40), "test": paraphrases(numbers, 20)}
    for split, rows in told["MRPC"].items():
        lines = [f"{label}\t{n}\t{n}\t{one}\t{other}" for n, (one, other, label) in enumerate(rows)]
        head = "\ufeffQuality\t#1 ID\t#2 ID\t#1 String\t#2 String"
        put(f"MRPC/msr_paraphrase_{split}.txt", [head, *lines], rows)
    (root / "counts.json").write_text(json.dumps(counts))
    return told


def labelled(numbers, count):
    return [(sentence(numbers, row % 2), row % 2) for row in range(count)]


def paraphrases(numbers, count):
    """Pairs that share a topic, or do not."""
    topics = numbers.integers(0, 2, count)
    return [(sentence(numbers, one), sentence(numbers, one ^ row % 2), 1 - row % 2) for row, one in enumerate(topics)]


def vector(words):
    """Counts of the words, slightly bent so that cosines are not ties; of no words zero."""
    counts = np.array([words.count(word) for word in WORDS], np.float32)
    return counts + 0.1 * np.sqrt(counts) * np.arange(len(WORDS), dtype=np.float32) / len(WORDS)
