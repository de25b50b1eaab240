"""Sentence pairs with gold similarities, read from a folder in SentEval's layout.

Wrong data make plausible numbers, so a loader checks what it reads before anything is computed with it: the number
of examples of every file, text where text belongs, English, gold scores within their scale. The standard sets have
the standard counts; a folder with other sets carries its own in counts.json, {path below the folder: examples}.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from clrepro.errors import UserError, unknown

COUNTS_FILE = "counts.json"
# annotated pairs of every subset, all split test
STS_COUNTS = {
    "STS12": {"MSRpar": 750, "MSRvid": 750, "SMTeuroparl": 459, "surprise.OnWN": 750, "surprise.SMTnews": 399},
    "STS13": {"FNWN": 189, "headlines": 750, "OnWN": 561},
    "STS14": {"deft-forum": 450, "deft-news": 300, "headlines": 750, "OnWN": 750, "images": 750, "tweet-news": 750},
    "STS15": {"answers-forums": 375, "answers-students": 750, "belief": 375, "headlines": 750, "images": 750},
    "STS16": {
        "answer-answer": 254,
        "headlines": 249,
        "plagiarism": 230,
        "postediting": 244,
        "question-question": 209,
    },
}
STS_SUBSETS = {task: tuple(counts) for task, counts in STS_COUNTS.items()}
STS_TASKS = (*STS_SUBSETS, "STSBenchmark", "SICKRelatedness")
SPLITS = ("train", "dev", "test")
# split -> file and its examples
STSB_FILES = {
    "train": ("STS/STSBenchmark/sts-train.csv", 5749),
    "dev": ("STS/STSBenchmark/sts-dev.csv", 1500),
    "test": ("STS/STSBenchmark/sts-test.csv", 1379),
}
SICK_FILES = {
    "train": ("SICK/SICK_train.txt", 4500),
    "dev": ("SICK/SICK_trial.txt", 500),
    "test": ("SICK/SICK_test_annotated.txt", 4927),
}
SICK_HEADER = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
# copies with known faults: file, examples found
KNOWN_COPIES = {
    ("SUBJ/subj.subjective", 20): "the SimCSE archive from before 2021-09-03, with which SUBJ exceeds 99 %",
    ("STS/STSBenchmark/sts-train.csv", 5231): "a Chinese translation",
    ("STS/STSBenchmark/sts-dev.csv", 1458): "a Chinese translation",
    ("STS/STSBenchmark/sts-test.csv", 1361): "a Chinese translation",
}
# 8 % and more of the words of every English set, headlines included; "in", "is" and "was" are Dutch or German as well
COMMON_WORDS = {"the", "of", "to", "and", "for", "on", "with", "are", "at", "by", "it", "from", "that"}
ENGLISH_SHARE = 0.035
ENOUGH_TEXT = 2000  # characters; less is too little to tell the language
NUMBER = re.compile(r"[-+]?\d*\.?\d+")
UNICODE_BREAK = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")  # what str.splitlines knows beyond CR and LF


@dataclass(frozen=True)
class Pairs:
    """Sentence pairs with gold similarities."""

    first: list[str]
    second: list[str]
    gold: list[float]


def read_lines(file: Path, encoding: str = "utf-8", unicode_breaks: bool = False) -> list[str]:
    """The lines of a file, at least one.

    unicode_breaks: SentEval's program reads this file with a splitter that also breaks lines at U+2028, U+0085 and
    the like. It would shift every later line against its gold score, so such a character is refused.
    """
    if not file.is_file():
        raise FileNotFoundError(
            f"evaluation set: {file} is missing; expected SentEval's downstream folder, which holds STS/, SICK/, MR/"
        )
    try:
        text = file.read_text(encoding)
    except UnicodeDecodeError as failure:
        raise UserError(
            f"evaluation set: {file} is not {encoding} ({failure.reason} at byte {failure.start})"
        ) from None
    if not text:
        raise UserError(f"evaluation set: {file} is empty, expected sentences or scores; fetch it again")
    if text.lstrip("\ufeff \t\n")[:14].lower().startswith(("<!doctype html", "<html")):
        raise UserError(f"evaluation set: {file} is an HTML page, expected sentences or scores; fetch it again")
    lines = text.split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    found = UNICODE_BREAK.search(text) if unicode_breaks else None
    if found:
        line = text.count("\n", 0, found.start()) + 1
        raise UserError(
            f"evaluation set: {file}, line {line}: expected only line feeds as line ends, "
            f"found U+{ord(found[0]):04X}, at which SentEval's program breaks the line as well; replace it by a blank"
        )
    return lines


def words(text: str) -> str:
    return " ".join(text.split())


def check_count(root: Path, name: str, found: int, standard: int) -> None:
    """Refuse a file whose number of examples is not that of counts.json, or the standard one where there is none."""
    manifest, expected = Path(root) / COUNTS_FILE, standard
    if manifest.is_file():
        try:
            expected = json.loads(manifest.read_text("utf-8"))[name]
        except (ValueError, KeyError, TypeError):
            raise UserError(
                f"evaluation set: {manifest} has no count for {name}, expected {{path: examples}} of every file"
            ) from None
    if found != expected:
        known = KNOWN_COPIES.get((name, found))
        cause = f"this is {known}" if known else "it is incomplete, or another data set"
        raise UserError(
            f"evaluation set: {Path(root) / name}: expected {expected} examples, found {found}; {cause}. "
            f"Fetch it again (sets of one's own state their sizes in {COUNTS_FILE})"
        )


def check_sentences(texts: Sequence[str], place: str, may_be_empty: bool = False) -> None:
    """Refuse texts that are empty, mostly numbers (a wrong column), or not English by their most common words."""
    if not may_be_empty and "" in texts:
        raise UserError(f"evaluation set: {place}: example {texts.index('') + 1} is empty, expected a sentence")
    if texts.count("") > 0.01 * len(texts):  # the real files with blank lines have a handful
        raise UserError(f"evaluation set: {place}: {texts.count('')} of {len(texts)} examples are empty")
    numbers = sum(NUMBER.fullmatch(text) is not None for text in texts)
    if 2 * numbers > len(texts):
        raise UserError(
            f"evaluation set: {place}: expected sentences, found numbers in {numbers} of {len(texts)} examples; "
            "the columns are in another order"
        )
    text = " ".join(texts).lower()
    tokens = text.split()
    share = sum(map(COMMON_WORDS.__contains__, tokens)) / max(len(tokens), 1)
    if len(text) >= ENOUGH_TEXT and share < ENGLISH_SHARE:
        raise UserError(
            f"evaluation set: {place}: expected English, of which the, of, to, and ... are 8 % or more of the words, "
            f"found {share:.1%}, as in '{texts[0][:40]}'; translated copies are in circulation, fetch the original"
        )


def columns_of(line: str, number: int, count: int, file: Path) -> list[str]:
    columns = line.split("\t")
    if len(columns) < count:
        raise UserError(f"evaluation set: {file}, line {number}: {len(columns)} columns, expected at least {count}")
    return columns


def score_of(text: str, number: int, file: Path, low: float) -> float:
    """A gold score, from low to 5."""
    try:
        score = float(text)
    except ValueError:
        raise UserError(
            f"evaluation set: {file}, line {number}: expected a score, found '{text[:40]}'; "
            "the columns are in another order, or the file is damaged"
        ) from None
    if not low <= score <= 5:
        raise UserError(f"evaluation set: {file}, line {number}: expected a score from {low} to 5, found {text}")
    return score


def read_table(root: Path, name: str, standard: int, header: Sequence[str] = (), encoding: str = "utf-8") -> list[str]:
    """The rows of a table with the right number of examples, its header checked and taken off."""
    lines = read_lines(Path(root) / name, encoding)
    if header:
        found = tuple(column.strip() for column in lines[0].lstrip("\ufeff").split("\t"))
        if found[: len(header)] != tuple(header):
            raise UserError(
                f"evaluation set: {Path(root) / name}: expected the columns {', '.join(header)} in line 1, "
                f"found {', '.join(found)[:80]}"
            )
        lines = lines[1:]
    check_count(root, name, len(lines), standard)
    return lines


def load_sts_subset(root: Path, task: str, subset: str) -> Pairs:
    """One subset of STS12-16; pairs whose gold line is empty are left out, as SentEval does."""
    folder = f"STS/{task}-en-test"
    name = f"{folder}/STS.input.{subset}.txt"
    text, scores = Path(root) / name, Path(root) / folder / f"STS.gs.{subset}.txt"
    inputs, gold = (read_lines(file, unicode_breaks=True) for file in (text, scores))
    if len(inputs) != len(gold):
        raise UserError(
            f"evaluation set: {text} has {len(inputs)} lines, {scores.name} has {len(gold)}; expected one score a line"
        )
    rated = [number for number, score in enumerate(gold) if score.strip()]
    check_count(root, name, len(rated), STS_COUNTS[task][subset])
    rows = [columns_of(inputs[number], number + 1, 2, text) for number in rated]
    first, second = ([words(row[column]) for row in rows] for column in (0, 1))
    for number, column in enumerate((first, second), 1):
        check_sentences(column, f"{text}, column {number}")
    return Pairs(first, second, [score_of(gold[number], number + 1, scores, 0) for number in rated])


def load_pairs(root: Path, task: str, split: str) -> Pairs:
    """STSBenchmark (gold 0 to 5) or SICKRelatedness (1 to 5), split train, dev or test."""
    if split not in SPLITS:
        raise unknown("split", split, SPLITS, task)
    if task == "STSBenchmark":
        (name, standard), header, columns, low = STSB_FILES[split], (), (5, 6, 4), 0
    else:
        (name, standard), header, columns, low = SICK_FILES[split], SICK_HEADER, (1, 2, 3), 1
    file, skipped = Path(root) / name, 1 if header else 0
    lines = read_table(root, name, standard, header)
    rows = [columns_of(line, number, max(columns) + 1, file) for number, line in enumerate(lines, 1 + skipped)]
    first, second = ([words(row[column]) for row in rows] for column in columns[:2])
    for column, texts in zip(columns[:2], (first, second), strict=True):
        check_sentences(texts, f"{file}, column {column + 1}")
    gold = [score_of(row[columns[2]], number, file, low) for number, row in enumerate(rows, 1 + skipped)]
    return Pairs(first, second, gold)
