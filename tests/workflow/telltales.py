"""Files that tell who made them."""

import zlib
from pathlib import Path

SECRETS = {
    "HF_TOKEN": "hf_topsecret",
    "AWS_SECRET_ACCESS_KEY": "aws_topsecret",
    "AWS_SESSION_TOKEN": "session_topsecret",
}
ABOUT_ME = ("topsecret", "annamuster")


def telltales(folder: Path, words: tuple[str, ...] = ABOUT_ME) -> list[str]:
    """Files below a folder that hold a secret, the home folder or the user's name, unpacked where they are packed."""
    found = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        raw = file.read_bytes()
        texts = [raw]
        if file.suffix == ".png":  # its text chunks may be compressed
            texts += [zlib.decompress(part[5:]) for part in raw.split(b"zTXt")[1:]]
        if any(word.encode() in text for text in texts for word in words):
            found.append(str(file.relative_to(folder)))
    return found
