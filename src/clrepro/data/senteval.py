"""The evaluation sets, read from a folder in SentEval's layout. Sentences are split tokens joined by blanks."""

from dataclasses import dataclass
from pathlib import Path

from clrepro.errors import UserError

STS_SUBSETS = {
    "STS12": ("MSRpar", "MSRvid", "SMTeuroparl", "surprise.OnWN", "surprise.SMTnews"),
    "STS13": ("FNWN", "headlines", "OnWN"),
    "STS14": ("deft-forum", "deft-news", "headlines", "OnWN", "images", "tweet-news"),
    "STS15": ("answers-forums", "answers-students", "belief", "headlines", "images"),
    "STS16": ("answer-answer", "headlines", "plagiarism", "postediting", "question-question"),
}
STS_TASKS = (*STS_SUBSETS, "STSBenchmark", "SICKRelatedness")
TRANSFER_TASKS = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
TREC_CLASSES = ("ABBR", "DESC", "ENTY", "HUM", "LOC", "NUM")


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with gold similarities."""

    first: list[str]
    second: list[str]
    gold: list[float]


@dataclass(frozen=True)
class Labelled:
    """Sentences (or pairs, where ``second`` is given) with class numbers."""

    first: list[str]
    labels: list[int]
    second: list[str] | None = None


def _lines(file: Path, encoding: str = "utf-8") -> list[str]:
    if not file.is_file():
        raise FileNotFoundError(f"evaluation set: {file} is missing")
    try:
        lines = file.read_text(encoding).split("\n")
    except UnicodeDecodeError as failure:
        raise UserError(
            f"evaluation set: {file} is not {encoding} ({failure.reason} at byte {failure.start})"
        ) from None
    return lines[:-1] if lines[-1] == "" else lines


def _words(text: str) -> str:
    return " ".join(text.split())


def _columns(line: str, number: int, count: int, file: Path) -> list[str]:
    columns = line.split("\t")
    if len(columns) < count:
        raise UserError(f"evaluation set: {file}, line {number}: {len(columns)} columns, expected at least {count}")
    return columns


def _number(text: str, number: int, file: Path) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"evaluation set: {file}, line {number}: '{text}' is not a score") from None


def load_sts_subset(root: Path, task: str, subset: str) -> Pairs:
    """One subset of STS12-16; pairs whose gold line is empty are left out."""
    folder = Path(root) / "STS" / f"{task}-en-test"
    text, scores = folder / f"STS.input.{subset}.txt", folder / f"STS.gs.{subset}.txt"
    inputs, gold = _lines(text), _lines(scores)
    if len(inputs) != len(gold):
        raise UserError(f"evaluation set: {text} has {len(inputs)} lines, {scores.name} has {len(gold)}")
    first, second, kept = [], [], []
    for number, (line, score) in enumerate(zip(inputs, gold, strict=True), 1):
        if score.strip():
            left, right = _columns(line, number, 2, text)[:2]
            first.append(_words(left))
            second.append(_words(right))
            kept.append(_number(score, number, scores))
    return Pairs(first, second, kept)


def load_pairs(root: Path, task: str, split: str) -> Pairs:
    """STSBenchmark or SICKRelatedness, split train, dev or test."""
    if task == "STSBenchmark":
        file, skip, columns = Path(root) / "STS" / "STSBenchmark" / f"sts-{split}.csv", 0, (5, 6, 4)
    else:
        name = {"train": "train", "dev": "trial", "test": "test_annotated"}[split]
        file, skip, columns = Path(root) / "SICK" / f"SICK_{name}.txt", 1, (1, 2, 3)
    first, second, gold = [], [], []
    for number, line in enumerate(_lines(file)[skip:], 1 + skip):
        row = _columns(line, number, max(columns) + 1, file)
        first.append(_words(row[columns[0]]))
        second.append(_words(row[columns[1]]))
        gold.append(_number(row[columns[2]], number, file))
    return Pairs(first, second, gold)


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
        one, zero = (_lines(root / name, "latin-1") for name in opposites[task])
        return {"all": Labelled([_words(line) for line in one + zero], [1] * len(one) + [0] * len(zero))}
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
    for number, line in enumerate(_lines(file), 1):
        text, label = _columns(line, number, 2, file)[:2]
        sentences.append(_words(text))
        labels.append(int(_number(label, number, file)))
    return Labelled(sentences, labels)


def _load_trec(file: Path) -> Labelled:
    sentences, labels = [], []
    for number, line in enumerate(_lines(file, "latin-1"), 1):
        coarse, _, rest = line.partition(":")
        if coarse not in TREC_CLASSES or " " not in rest:
            raise UserError(f"evaluation set: {file}, line {number}: no question class in '{line[:40]}'")
        sentences.append(_words(rest.split(" ", 1)[1]))
        labels.append(TREC_CLASSES.index(coarse))
    return Labelled(sentences, labels)


def _load_mrpc(file: Path) -> Labelled:
    first, second, labels = [], [], []
    for number, line in enumerate(_lines(file)[1:], 2):
        row = _columns(line, number, 5, file)
        labels.append(int(_number(row[0], number, file)))
        first.append(_words(row[3]))
        second.append(_words(row[4]))
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
