"""Sentence pairs with gold similarities, read from a folder in SentEval's layout."""

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


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with gold similarities."""

    first: list[str]
    second: list[str]
    gold: list[float]


def read_lines(file: Path, encoding: str = "utf-8") -> list[str]:
    if not file.is_file():
        raise FileNotFoundError(f"evaluation set: {file} is missing")
    try:
        lines = file.read_text(encoding).split("\n")
    except UnicodeDecodeError as failure:
        raise UserError(
            f"evaluation set: {file} is not {encoding} ({failure.reason} at byte {failure.start})"
        ) from None
    return lines[:-1] if lines[-1] == "" else lines


def words(text: str) -> str:
    return " ".join(text.split())


def columns_of(line: str, number: int, count: int, file: Path) -> list[str]:
    columns = line.split("\t")
    if len(columns) < count:
        raise UserError(f"evaluation set: {file}, line {number}: {len(columns)} columns, expected at least {count}")
    return columns


def number_of(text: str, number: int, file: Path) -> float:
    try:
        return float(text)
    except ValueError:
        raise UserError(f"evaluation set: {file}, line {number}: '{text}' is not a score") from None


def load_sts_subset(root: Path, task: str, subset: str) -> Pairs:
    """One subset of STS12-16; pairs whose gold line is empty are left out."""
    folder = Path(root) / "STS" / f"{task}-en-test"
    text, scores = folder / f"STS.input.{subset}.txt", folder / f"STS.gs.{subset}.txt"
    inputs, gold = read_lines(text), read_lines(scores)
    if len(inputs) != len(gold):
        raise UserError(f"evaluation set: {text} has {len(inputs)} lines, {scores.name} has {len(gold)}")
    first, second, kept = [], [], []
    for number, (line, score) in enumerate(zip(inputs, gold, strict=True), 1):
        if score.strip():
            left, right = columns_of(line, number, 2, text)[:2]
            first.append(words(left))
            second.append(words(right))
            kept.append(number_of(score, number, scores))
    return Pairs(first, second, kept)


def load_pairs(root: Path, task: str, split: str) -> Pairs:
    """STSBenchmark or SICKRelatedness, split train, dev or test."""
    if task == "STSBenchmark":
        file, skip, columns = Path(root) / "STS" / "STSBenchmark" / f"sts-{split}.csv", 0, (5, 6, 4)
    else:
        name = {"train": "train", "dev": "trial", "test": "test_annotated"}[split]
        file, skip, columns = Path(root) / "SICK" / f"SICK_{name}.txt", 1, (1, 2, 3)
    first, second, gold = [], [], []
    for number, line in enumerate(read_lines(file)[skip:], 1 + skip):
        row = columns_of(line, number, max(columns) + 1, file)
        first.append(words(row[columns[0]]))
        second.append(words(row[columns[1]]))
        gold.append(number_of(row[columns[2]], number, file))
    return Pairs(first, second, gold)
