"""Bring a source's bytes from its url: with resume, patience and a checksum, never by half under the final name."""

import errno
import http.client
import os
import shutil
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.paths import sha256
from clrepro.sources.source import Source

ATTEMPTS = 5  # in a row that bring no byte
PAUSE = 2.0  # seconds before the second attempt, doubled before every further one
TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
LOCAL = {errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG}
SPARE = 100_000_000  # bytes that stay free on the disk
MODEL_FILES = [
    "config.json",
    "model.safetensors",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "special_tokens_map.json",
]


def check_space(folder: Path, needed: int, what: str) -> None:
    """Refuse what would fill the disk, before the first byte."""
    free = shutil.disk_usage(folder).free - SPARE
    if needed > free:
        raise UserError(
            f"{what} needs {needed:,} bytes in {folder}, which has {max(free, 0):,} to spare; make room there"
        )


def download(source: Source, target: Path, expected: str | None = None) -> str:
    """Stream the source's url to ``target``; returns the sha256.

    What was received lies in ``target.part`` until it is complete and its sha256 is the ``expected`` one (by default
    the published one); an interrupted download goes on there. Wrong bytes are kept as ``target.wrong``.
    """
    expected = expected or source.sha256
    part = beside(target, "part")
    target.parent.mkdir(parents=True, exist_ok=True)
    patiently(source, part, lambda: receive(source.url, part, expected is not None))
    found = sha256(part)
    if expected and found != expected:
        raise UserError(
            f"source '{source.name}': {source.url} sent {part.stat().st_size:,} bytes with sha256 {found}, expected "
            f"{expected}.{looks_like_a_page(part)} They are kept as {set_aside(part, target)}"
        )
    os.replace(part, target)
    beside(part, "tag").unlink(missing_ok=True)
    return found


def download_model(source: Source, target: Path) -> None:
    """The files of a model at its pinned revision into the folder ``target``, compared with the hub's own checksums."""
    from huggingface_hub import HfApi, snapshot_download

    part = beside(target, "part")
    wanted = {"revision": source.revision, "allow_patterns": MODEL_FILES, "local_dir": part}
    patiently(source, part, lambda: of_hub(snapshot_download, source.url, **wanted))
    notes = part / ".cache"  # of the hub's client, on what is complete
    found = [path for path in part.rglob("*") if path.is_file() and not path.is_relative_to(notes)]
    files = [path.relative_to(part).as_posix() for path in found]
    stated = patiently(
        source, part, lambda: of_hub(HfApi().get_paths_info, source.url, files, revision=source.revision)
    )
    for file in stated:
        if file.lfs and file.lfs.sha256 != sha256(part / file.path):
            raise UserError(
                f"source '{source.name}': {file.path} is not what {source.url} has at {source.revision[:8]} (sha256 "
                f"{file.lfs.sha256}). What was received is kept as {set_aside(part, target)}"
            )
    shutil.rmtree(notes, ignore_errors=True)
    os.replace(part, target)


def of_hub(call: Callable, *arguments, **settings):
    """A call of the hub's client, whose errors come from whatever library it speaks HTTP with."""
    try:
        return call(*arguments, **settings)
    except OSError:
        raise
    except Exception as failure:
        raise OSError(f"{type(failure).__name__}: {failure}") from failure


def beside(path: Path, ending: str) -> Path:
    return path.with_name(f"{path.name}.{ending}")


def set_aside(path: Path, target: Path) -> Path:
    """Rename a wrong file or folder to ``target.wrong``, over an older one; returns that name."""
    wrong = beside(target, "wrong")
    if wrong.is_dir() and not wrong.is_symlink():
        shutil.rmtree(wrong)
    elif wrong.is_symlink() or wrong.exists():
        wrong.unlink()
    os.replace(path, wrong)
    beside(beside(target, "part"), "tag").unlink(missing_ok=True)
    return wrong


def looks_like_a_page(file: Path) -> str:
    with open(file, "rb") as content:
        start = content.read(15).lstrip().lower()
    return " It starts like an HTML page." if start.startswith((b"<!doc", b"<html")) else ""


def patiently(source: Source, part: Path, attempt: Callable):
    """Try until it succeeds, fails for good, or fails several times in a row without a byte more in ``part``."""
    failures = 0
    while True:
        before = size_of(part)
        try:
            return attempt()
        except UserError:
            raise
        except (OSError, http.client.HTTPException) as failure:
            failures = 0 if size_of(part) > before else failures + 1
            if failures == ATTEMPTS or is_final(failure):
                raise UserError(
                    f"source '{source.name}': cannot download {source.url} ({failure}). What was received is kept; "
                    f"run again, or put it into <mirror>/{source.mirror} and set `mirror:`"
                ) from None
            pause = PAUSE * 2 ** max(failures - 1, 0)
            print(f"source '{source.name}': {failure}; next attempt in {pause:g} s", file=sys.stderr, flush=True)
            time.sleep(pause)


def size_of(path: Path) -> int:
    if path.is_dir():
        return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
    return path.stat().st_size if path.exists() else 0


def is_final(failure: Exception) -> bool:
    """Whether another attempt could not help: a refusal by the server, a full or read-only disk, no network allowed."""
    status = getattr(failure, "code", None) or getattr(getattr(failure, "response", None), "status_code", None)
    if status is not None:
        return status not in TRY_AGAIN
    return getattr(failure, "errno", None) in LOCAL or type(failure).__name__ == "OfflineModeIsEnabled"


def receive(url: str, part: Path, checked_later: bool) -> None:
    """One request; appends to ``part`` where the server goes on with the same file, else begins anew.

    That it is the same file is known by the server's tag of the first request. Without one, only a download whose
    sha256 is known (``checked_later``) is continued.
    """
    tag_file = beside(part, "tag")
    tag = tag_file.read_text("utf-8") if tag_file.exists() else ""
    have = size_of(part) if tag or checked_later else 0
    headers = {"Range": f"bytes={have}-", **({"If-Range": tag} if tag else {})} if have else {}
    try:
        response = urllib.request.urlopen(urllib.request.Request(url, headers=headers), timeout=60)
    except urllib.error.HTTPError as failure:
        failure.close()
        if failure.code != 416:
            raise
        if failure.headers.get("Content-Range") == f"bytes */{have}":
            return  # it was complete already
        part.unlink()
        raise OSError(f"the server has no byte {have:,}; the download begins anew") from None
    with response:
        resumed = response.status == 206
        if resumed and not response.headers.get("Content-Range", f"bytes {have}-").startswith(f"bytes {have}-"):
            part.unlink()
            raise OSError("the server sent another range than asked for; the download begins anew")
        have = have if resumed else 0
        length = response.headers.get("Content-Length")
        total = int(length) + have if length else None
        if total is None and not checked_later and response.headers.get("Transfer-Encoding") != "chunked":
            raise UserError(f"{url}: the server does not say how long the file is, and nobody publishes its sha256")
        check_space(part.parent, (total or 0) - have, url)
        if not resumed:
            strong = response.headers.get("ETag", "W/")
            tag_file.write_text(
                response.headers.get("Last-Modified", "") if strong.startswith("W/") else strong, "utf-8"
            )
        bar = tqdm(total=total, initial=have, unit="B", unit_scale=True, desc=part.stem, disable=None)
        with open(part, "ab" if resumed else "wb") as file, bar:
            while chunk := response.read(1 << 20):
                file.write(chunk)
                bar.update(len(chunk))
    if total is not None and size_of(part) != total:
        raise OSError(f"the connection ended after {size_of(part):,} of {total:,} bytes")
