"""Training sentences: read with care, tokenised once into a memory-mapped file."""

import json
from pathlib import Path

import numpy as np

from clrepro.errors import UserError
from clrepro.paths import sha256, write_json


def read_sentences(path: Path, blank_lines: str = "refuse") -> list[str]:
    """The lines of a UTF-8 file, in order.

    Raises UserError for an empty file, for bytes that are not UTF-8 and (unless ``blank_lines`` is "keep") for
    blank lines, each with the line number.
    """
    raw = Path(path).read_bytes()
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as failure:
        line = raw.count(b"\n", 0, failure.start) + 1
        raise UserError(
            f"corpus {path}, line {line}: byte 0x{raw[failure.start]:02x} is not UTF-8. Convert the file, for "
            "instance with: iconv -f LATIN1 -t UTF-8"
        ) from None
    sentences = text.split("\n")
    if sentences[-1] == "":
        sentences.pop()
    if not sentences:
        raise UserError(f"corpus {path} is empty: it needs one sentence a line")
    blank = [number for number, sentence in enumerate(sentences, 1) if not sentence.strip()]
    if blank and blank_lines == "refuse":
        more = f" and {len(blank) - 3} more" if len(blank) > 3 else ""
        raise UserError(
            f"corpus {path} has blank lines: {', '.join(map(str, blank[:3]))}{more}. Remove them, or set "
            "`sentence.blank_lines: keep` to train on empty sentences as the released code does"
        )
    return sentences


def select(sentences: list[str], lines: int | None) -> list[str]:
    """The first ``lines`` sentences of one fixed shuffle, or all of them in file order for None."""
    if lines is None:
        return sentences
    if lines > len(sentences):
        raise UserError(f"sentence.corpus_lines asks for {lines:,} sentences, the corpus has {len(sentences):,}")
    order = np.random.default_rng(0).permutation(len(sentences))[:lines]
    return [sentences[index] for index in order]


def tokenise(sentences: list[str], tokenizer, max_length: int, folder: Path) -> None:
    """Write token ids (special tokens included, truncated) as tokens.bin with offsets.bin, and a record.

    tokens.bin: all ids in one flat array, uint16 where the vocabulary allows it; offsets.bin: (n + 1,) int64.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kind = np.uint16 if len(tokenizer) <= 1 << 16 else np.uint32
    lengths = []
    with open(folder / "tokens.bin", "wb") as file:
        for start in range(0, len(sentences), 10_000):
            chunk = sentences[start : start + 10_000]
            for ids in tokenizer(chunk, truncation=True, max_length=max_length)["input_ids"]:
                np.asarray(ids, kind).tofile(file)
                lengths.append(len(ids))
    np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64).tofile(folder / "offsets.bin")
    record = {
        "sentences": len(sentences),
        "tokens": int(sum(lengths)),
        "mean_length": round(float(np.mean(lengths)), 2),
        "max_length": max_length,
        "dtype": np.dtype(kind).name,
        "pad_id": tokenizer.pad_token_id,
        "sha256": [sha256(folder / "tokens.bin"), sha256(folder / "offsets.bin")],
    }
    write_json(folder / "tokens.json", record)


class TokenisedCorpus:
    """Sentences as token ids, read through a memory map that all processes share."""

    def __init__(self, folder: Path):
        record = json.loads((folder / "tokens.json").read_text("utf-8"))
        self.pad_id = record["pad_id"]
        self.tokens = np.memmap(folder / "tokens.bin", dtype=record["dtype"], mode="r")
        self.offsets = np.fromfile(folder / "offsets.bin", dtype=np.int64)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def batch(self, indices: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Token ids and attention mask, (len(indices), longest of them) int64, padded to their own longest."""
        rows = [self.tokens[self.offsets[i] : self.offsets[i + 1]] for i in indices]
        longest = max(len(row) for row in rows)
        ids = np.full((len(rows), longest), self.pad_id, np.int64)
        mask = np.zeros((len(rows), longest), np.int64)
        for number, row in enumerate(rows):
            ids[number, : len(row)] = row
            mask[number, : len(row)] = 1
        return ids, mask
