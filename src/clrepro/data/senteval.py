"""The evaluation sets, read from a folder in SentEval's layout. Sentences are split tokens joined by blanks."""

from dataclasses import dataclass
from pathlib import Path

from clrepro.data.pairs import (
    STS_SUBSETS,
    STS_TASKS,
    Pairs,
    columns_of,
    load_pairs,
    load_sts_subset,
    number_of,
    read_lines,
    words,
)
from clrepro.errors import UserError

TRANSFER_TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")


@dataclass(frozen=True)
class Labelled:
    """Sentences (or pairs, where ``second`` is given) with class numbers."""

    first: list[str]
    labels: list[int]
    second: list[str] | None = None


def load_transfer(root: Path, task: str) -> dict[str, Labelled]:
    """A transfer task's splits: {"all"} for MR, CR, SUBJ, MPQA; {"train", "test"} and "dev" for SST2 otherwise."""
    root = Path(root)
    opposites = {
        "MR": ("MR/rt-polarity.pos", "MR/rt-polarity.neg"),
        "CR": ("CR/custrev.pos", "CR/custrev.neg"),
        "SUBJ": ("SUBJ/subj.objective", "SUBJ/subj.subjective"),
        "MPQA": ("MPQA/mpqa.pos", "MPQA/mpqa.neg"),
    }
    if task in opposites:
        one, zero = (read_lines(root / name, "latin-1") for name in opposites[task])
        return {"all": Labelled([words(line) for line in one + zero], [1] * len(one) + [0] * len(zero))}
    if task == "SST2":
        return {split: _load_sst(root / "SST" / "binary" / f"sentiment-{split}") for split in ("train", "dev", "test")}
    if task == "TREC":
        return {
            "train": _load_trec(root / "TREC" / "train_5500.label"),
            "test": _load_trec(root / "TREC" / "TREC_10.label"),
        }
    return {split: _load_mrpc(root / "MRPC" / f"msr_paraphrase_{split}.txt") for split in ("train", "test")}


def _load_sst(file: Path) -> Labelled:
    sentences, labels = [], []
    for number, line in enumerate(read_lines(file), 1):
        text, label = columns_of(line, number, 2, file)[:2]
        sentences.append(words(text))
        labels.append(int(number_of(label, number, file)))
    return Labelled(sentences, labels)


def _load_trec(file: Path) -> Labelled:
    sentences, labels = [], []
    for number, line in enumerate(read_lines(file, "latin-1"), 1):
        coarse, _, rest = line.partition(":")
        if coarse not in TREC_CLASSES or " " not in rest:
            raise UserError(f"evaluation set: {file}, line {number}: no question class in '{line[:40]}'")
        sentences.append(words(rest.split(" ", 1)[1]))
        labels.append(TREC_CLASSES.index(coarse))
    return Labelled(sentences, labels)


def _load_mrpc(file: Path) -> Labelled:
    first, second, labels = [], [], []
    for number, line in enumerate(read_lines(file)[1:], 2):
        row = columns_of(line, number, 5, file)
        labels.append(int(number_of(row[0], number, file)))
        first.append(words(row[3]))
        second.append(words(row[4]))
    return Labelled(first, labels, second)


def distinct_sentences(root: Path, tasks: tuple[str, ...] = (*STS_TASKS, *TRANSFER_TASKS)) -> list[str]:
    """Every sentence that the tasks need, once, sorted: the row order of a stored embedding matrix."""
    parts: list[Pairs | Labelled] = []
    for task in tasks:
        if task in STS_SUBSETS:
            parts += [load_sts_subset(root, task, subset) for subset in STS_SUBSETS[task]]
        elif task in STS_TASKS:
            parts += [load_pairs(root, task, split) for split in ("dev", "test")]
        else:
            parts += load_transfer(root, task).values()
    return sorted({sentence for part in parts for sentence in (*part.first, *(part.second or ()))})
