"""Semantic textual similarity against SciPy and SentEval's rules."""

import json

import numpy as np
import pytest
from scipy import stats

from clrepro.errors import UserError
from clrepro.evaluation.senteval import files, pairs
from clrepro.evaluation.senteval.pairs import STS_SUBSETS
from clrepro.evaluation.senteval.sts import evaluate_sts, similarities


def oracle(encode, root, task):
    """STS as SentEval states it: files read by its rules, one pair at a time, SciPy's correlations."""
    folder, found, everything = root / "STS" / f"{task}-en-test", {}, ([], [])
    for file in sorted(folder.glob("STS.input.*")):
        subset = file.name.removeprefix("STS.input.").removesuffix(".txt")
        scores = (folder / f"STS.gs.{subset}.txt").read_text("utf-8").splitlines()
        kept = [
            (line.split("\t"), float(s))
            for line, s in zip(file.read_text("utf-8").splitlines(), scores, strict=True)
            if s
        ]
        vectors = [[encode(" ".join(text.split())).astype(float) for text in row[:2]] for row, _ in kept]
        with np.errstate(invalid="ignore"):
            system = [np.nan_to_num(a @ b / (np.linalg.norm(a) * np.linalg.norm(b))) for a, b in vectors]
        gold = [score for _, score in kept]
        found[subset] = (stats.spearmanr(system, gold)[0], stats.pearsonr(system, gold)[0], len(gold))
        everything[0].extend(system)
        everything[1].extend(gold)
    table = {}
    for place, metric in enumerate(("spearman", "pearson")):
        values = {subset: result[place] for subset, result in found.items()}
        sizes = [result[2] for result in found.values()]
        table |= {f"{metric}:{subset}": value for subset, value in values.items()}
        table[f"{metric}_mean"] = sum(values.values()) / len(values)
        table[f"{metric}_wmean"] = sum(v * n for v, n in zip(values.values(), sizes, strict=True)) / sum(sizes)
        table[f"{metric}_all"] = getattr(stats, f"{metric}r")(*everything)[0]
    return table


def encode(sentence):
    """Sums of random word vectors, the same on every machine; sentences of eight words are zero."""
    tokens = sentence.split()
    if len(tokens) == 8:
        return np.zeros(24, np.float32)
    seeds = [sum(ord(c) * 31**i for i, c in enumerate(token)) % 2**32 for token in tokens]
    return sum(np.random.default_rng(seed).normal(size=24) for seed in seeds).astype(np.float32)


def test_sts_is_sentevals(folder):
    # subsets of unequal size, so that mean and weighted mean differ
    counts = json.loads((folder / pairs.COUNTS_FILE).read_text())
    for kind in ("input", "gs"):
        file = folder / "STS" / "STS13-en-test" / f"STS.{kind}.OnWN.txt"
        file.write_text("".join(f"{line}\n" for line in file.read_text().splitlines()[:11]))
    counts["STS/STS13-en-test/STS.input.OnWN.txt"] = 11
    (folder / pairs.COUNTS_FILE).write_text(json.dumps(counts))
    tasks = ("STS13", "STS16", "STSBenchmark", "SICKRelatedness")
    sentences = files.distinct_sentences(folder, tasks, pairs.SPLITS)
    vectors = np.stack([encode(sentence) for sentence in sentences])
    assert 0 < (~vectors.any(1)).sum() < len(vectors) / 2
    rows = evaluate_sts(vectors, sentences, folder, tasks, pairs.SPLITS)
    found = {row[:3]: row[3] for row in rows}
    assert len(found) == len(rows) == 2 * (3 + 3) + 2 * (5 + 3) + 2 * 2 * 3
    for task in ("STS13", "STS16"):
        expected = oracle(encode, folder, task)
        ours = {metric: value for (name, _, metric), value in found.items() if name == task}
        assert ours == pytest.approx(expected, abs=1e-6)
        assert ours["spearman_mean"] != pytest.approx(ours["spearman_all"], abs=1e-3)
    assert found["STS13", "test", "pearson_mean"] != pytest.approx(found["STS13", "test", "pearson_wmean"], abs=1e-4)
    raw = similarities(vectors, sentences, folder, tasks, pairs.SPLITS)
    similarity, gold = raw["SICKRelatedness", "train", ""]
    assert gold.tolist() == pairs.load_pairs(folder, "SICKRelatedness", "train").gold
    assert found["SICKRelatedness", "train", "spearman"] == pytest.approx(
        stats.spearmanr(similarity, gold)[0], abs=1e-12
    )
    assert found["SICKRelatedness", "train", "pearson"] == pytest.approx(stats.pearsonr(similarity, gold)[0], abs=1e-12)


def test_vectors_of_other_sentences_are_refused(demo_tasks):
    sentences = files.distinct_sentences(demo_tasks, ("STSBenchmark",))
    vectors = np.ones((len(sentences), 2), np.float32)
    with pytest.raises(UserError, match="no vector for the sentence .* same tasks and splits"):
        evaluate_sts(vectors, sentences, demo_tasks, ("STSBenchmark",), ("train",))
    with pytest.raises(UserError, match=f"{len(sentences) - 1} vectors for {len(sentences)} sentences"):
        evaluate_sts(vectors[1:], sentences, demo_tasks, ("STSBenchmark",))


def test_vectors_at_the_angles_that_gold_asks_for_reach_correlation_1(tmp_path):
    folder = tmp_path / "STS" / "STS12-en-test"
    folder.mkdir(parents=True)
    gold = {name: np.random.default_rng(number).permutation(12) / 3 for number, name in enumerate(STS_SUBSETS["STS12"])}
    counts = {f"STS/STS12-en-test/STS.input.{name}.txt": 12 for name in gold}
    (tmp_path / "counts.json").write_text(json.dumps(counts))
    sentences, angles = [], []
    for name, scores in gold.items():
        pairs = [(f"{name} a{i}", f"{name} b{i}") for i in range(12)]
        (folder / f"STS.input.{name}.txt").write_text("".join(f"{a}\t{b}\n" for a, b in pairs))
        (folder / f"STS.gs.{name}.txt").write_text("".join(f"{score}\n" for score in scores))
        sentences += [sentence for pair in pairs for sentence in pair]
        angles += [angle for score in scores for angle in (0.0, (4 - score) / 4)]
    vectors = np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)
    right = {metric: value for _, _, metric, value in evaluate_sts(vectors, sentences, tmp_path, ("STS12",))}
    ranked = [value for metric, value in right.items() if metric.startswith("spearman")]
    assert ranked == pytest.approx([1.0] * 8)
    # one subset turned over: its own correlation is -1, the mean 3/5, the concatenation in between
    (folder / "STS.gs.MSRvid.txt").write_text("".join(f"{4 - score}\n" for score in gold["MSRvid"]))
    wrong = {metric: value for _, _, metric, value in evaluate_sts(vectors, sentences, tmp_path, ("STS12",))}
    assert wrong["spearman:MSRvid"] == pytest.approx(-1)
    assert wrong["spearman_mean"] == wrong["spearman_wmean"] == pytest.approx(0.6)
    assert wrong["spearman_all"] == pytest.approx(0.6, abs=0.02)
