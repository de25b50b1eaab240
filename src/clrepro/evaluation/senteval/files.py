"""The evaluation sets, read from a folder in SentEval's layout. Sentences are split tokens joined by blanks.

What is checked on loading, and how sets of one's own state their sizes: see `clrepro.evaluation.senteval.pairs`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from clrepro.errors import UserError, unknown
from clrepro.evaluation.senteval.pairs import (
    SICK_FILES,
    SICK_HEADER,
    SPLITS,
    STS_SUBSETS,
    STS_TASKS,
    Pairs,
    check_count,
    check_sentences,
    columns_of,
    load_pairs,
    load_sts_subset,
    read_lines,
    read_table,
    words,
)

TRANSFER_TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
# of upstream SentEval, asked for by name only
EXTRA_TASKS = ("SST5", "SICKEntailment")
REGRESSION_TASKS = ("STSBenchmark-finetune", "SICKRelatedness-finetune")

TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")
SICK_CLASSES = ("CONTRADICTION", "NEUTRAL", "ENTAILMENT")  # SentEval's order
MRPC_HEADER = ("Quality", "#1 ID", "#2 ID", "#1 String", "#2 String")
# class 1, class 0: file and its examples
OPPOSITES = {
    "MR": (("MR/rt-polarity.pos", 5331), ("MR/rt-polarity.neg", 5331)),
    "CR": (("CR/custrev.pos", 2407), ("CR/custrev.neg", 1368)),
    "SUBJ": (("SUBJ/subj.objective", 5000), ("SUBJ/subj.subjective", 5000)),
    "MPQA": (("MPQA/mpqa.pos", 3312), ("MPQA/mpqa.neg", 7294)),
}


@dataclass(frozen=True)
class Labelled:
    """Sentences (or pairs, where ``second`` is given) with class numbers."""

    first: list[str]
    labels: list[int]
    second: list[str] | None = None


@dataclass(frozen=True)
class Format:
    """How the files of a task are read: split -> (file, examples), and a row -> (label, sentence or two)."""

    files: dict[str, tuple[str, int]]
    classes: Sequence[str]
    parts: Callable[[str, int, Path], Sequence[str]]
    header: Sequence[str] = ()
    encoding: str = "utf-8"


def _label_last(line: str, number: int, file: Path) -> Sequence[str]:
    text, label = columns_of(line, number, 2, file)[:2]
    return label, text


def _label_first(line: str, number: int, file: Path) -> Sequence[str]:
    return line.strip().partition(" ")[::2]


def _question(line: str, number: int, file: Path) -> Sequence[str]:
    # COARSE:fine question
    coarse, _, rest = line.partition(":")
    return coarse, rest.partition(" ")[2]


def _columns(*wanted: int) -> Callable[[str, int, Path], Sequence[str]]:
    def parts(line: str, number: int, file: Path) -> Sequence[str]:
        row = columns_of(line, number, max(wanted) + 1, file)
        return [row[column] for column in wanted]

    return parts


FORMATS = {
    "SST2": Format(
        {
            "train": ("SST/binary/sentiment-train", 67349),
            "dev": ("SST/binary/sentiment-dev", 872),
            "test": ("SST/binary/sentiment-test", 1821),
        },
        ("0", "1"),
        _label_last,
    ),
    "SST5": Format(
        {
            "train": ("SST/fine/sentiment-train", 8544),
            "dev": ("SST/fine/sentiment-dev", 1101),
            "test": ("SST/fine/sentiment-test", 2210),
        },
        ("0", "1", "2", "3", "4"),
        _label_first,
    ),
    "TREC": Format(
        {"train": ("TREC/train_5500.label", 5452), "test": ("TREC/TREC_10.label", 500)},
        TREC_CLASSES,
        _question,
        encoding="latin-1",
    ),
    "MRPC": Format(
        {"train": ("MRPC/msr_paraphrase_train.txt", 4076), "test": ("MRPC/msr_paraphrase_test.txt", 1725)},
        ("0", "1"),
        _columns(0, 3, 4),
        MRPC_HEADER,
    ),
    "SICKEntailment": Format(SICK_FILES, SICK_CLASSES, _columns(4, 1, 2), SICK_HEADER),
}


def load_transfer(root: Path, task: str) -> dict[str, Labelled]:
    """A classification task's splits.

    {"all"} for MR, CR, SUBJ, MPQA; {"train", "test"} for TREC, MRPC; {"train", "dev", "test"} for SST2, SST5 and
    SICKEntailment. Blank lines of MR, CR, SUBJ, MPQA are empty sentences, as in SentEval.
    """
    if task in OPPOSITES:
        one, zero = (_load_lines(Path(root), name, count) for name, count in OPPOSITES[task])
        return {"all": Labelled(one + zero, [1] * len(one) + [0] * len(zero))}
    if task not in FORMATS:
        raise unknown("task", task, (*OPPOSITES, *FORMATS))
    return {split: _load_labelled(Path(root), FORMATS[task], split) for split in FORMATS[task].files}


def _load_lines(root: Path, name: str, count: int) -> list[str]:
    sentences = [words(line) for line in read_lines(root / name, "latin-1", unicode_breaks=True)]
    check_count(root, name, len(sentences), count)
    check_sentences(sentences, str(root / name), may_be_empty=True)
    return sentences


def _load_labelled(root: Path, form: Format, split: str) -> Labelled:
    name, count = form.files[split]
    file, places = root / name, {label: place for place, label in enumerate(form.classes)}
    columns: list[list[str]] = []
    labels: list[int] = []
    for number, line in enumerate(read_table(root, name, count, form.header, form.encoding), 2 if form.header else 1):
        label, *texts = form.parts(line, number, file)
        if label.strip() not in places:
            raise UserError(
                f"evaluation set: {file}, line {number}: expected a class of {', '.join(form.classes)}, "
                f"found '{label.strip()[:40]}'"
            )
        labels.append(places[label.strip()])
        columns.append([words(text) for text in texts])
    sentences = [list(column) for column in zip(*columns, strict=True)]
    for place, texts in enumerate(sentences, 1):
        check_sentences(texts, f"{file}, sentence {place} of a row" if len(sentences) > 1 else str(file))
    return Labelled(sentences[0], labels, sentences[1] if len(sentences) > 1 else None)


def load_regression(root: Path, task: str) -> dict[str, Pairs]:
    """Pairs with gold scores for a trained regressor, splits train, dev, test; a task of REGRESSION_TASKS."""
    if task not in REGRESSION_TASKS:
        raise unknown("task", task, REGRESSION_TASKS)
    return {split: load_pairs(root, task.removesuffix("-finetune"), split) for split in SPLITS}


def distinct_sentences(
    root: Path,
    tasks: Sequence[str] = (*STS_TASKS, *TRANSFER_TASKS),
    splits: Sequence[str] = ("dev", "test"),
) -> list[str]:
    """Every sentence that the tasks need, once, sorted: the row order of a stored embedding matrix.

    splits: those of STSBenchmark and SICKRelatedness; tasks that train a classifier need all of theirs. Everything
    is loaded, so wrong data of any task are refused here, before a sentence is embedded.
    """
    parts: list[Pairs | Labelled] = []
    for task in tasks:
        if task in STS_SUBSETS:
            parts += [load_sts_subset(root, task, subset) for subset in STS_SUBSETS[task]]
        elif task in STS_TASKS:
            parts += [load_pairs(root, task, split) for split in splits]
        elif task in REGRESSION_TASKS:
            parts += load_regression(root, task).values()
        else:
            parts += load_transfer(root, task).values()
    return sorted({sentence for part in parts for sentence in (*part.first, *(part.second or ()))})
