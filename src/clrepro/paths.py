"""Where things lie. Results, data and state are relative to the working directory, papers to ROOT."""

import errno
import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from clrepro.errors import UserError

INSTALLED = Path(__file__).resolve().parent / "project"  # in a wheel only: setup.py puts it there
# papers, configurations and the workflow: a checkout's own, or those that came with the package
ROOT = INSTALLED if INSTALLED.is_dir() else Path(__file__).resolve().parents[2]
SNAKEFILE = ROOT / "Snakefile"
PAPERS = ROOT / "papers"
DATA = Path("data")
RESULTS = Path("results")
STATE = Path("state")


def checkout(wish: str) -> Path:
    """The root of the checkout, for what is written there; an installed package has none."""
    if ROOT == INSTALLED:
        raise UserError(f"{wish}, and this clrepro is installed in {ROOT.parent}: run it in a clone of the repository")
    return ROOT


def digest(content: Any) -> str:
    """The first 8 hexadecimal digits of the sha256 of a canonical JSON text."""
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def read_json(path: Path) -> Any:
    return json.loads(Path(path).read_text("utf-8"))


def write_json(path: Path, content: Any) -> None:
    write_text(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def write_text(path: Path, text: str) -> None:
    with replacing(path) as temporary:
        temporary.write_text(text, "utf-8", newline="")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside ``path`` to write to, which takes its place at the end, or goes if writing fails.

    A reader meets the old content or the new, never half of it, after a kill and after a lost node as well: the
    content is on the disk before the name is. What a killed process left goes when the same path is written again.
    A full disk is a UserError.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    mark = f".{path.name}.{platform.node()[:32]}-"
    for entry in os.scandir(path.parent):
        owner = re.fullmatch(re.escape(mark) + r"(\d+)\.tmp", entry.name)
        if owner and not is_alive(int(owner[1])):
            Path(entry.path).unlink(missing_ok=True)
    temporary = path.with_name(f"{mark}{os.getpid()}.tmp")
    with room_for(path):
        try:
            yield temporary
            sync(temporary)
            os.replace(temporary, path)
            sync(path.parent)
        finally:
            temporary.unlink(missing_ok=True)


def make_link(path: Path, link: Path) -> None:
    """A symbolic link, put in place of an older one; it stays relative where the path is."""
    temporary = link.with_name(f".{link.name}.{os.getpid()}.tmp")
    temporary.unlink(missing_ok=True)
    temporary.symlink_to(path if path.is_absolute() else os.path.relpath(path, link.parent))
    os.replace(temporary, link)


def is_alive(pid: int) -> bool:
    """Whether this machine has a process of that number."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def sync(path: Path) -> None:
    """Wait until a file's content, or a folder's list of names, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    except OSError as failure:
        if failure.errno != errno.EINVAL:  # some file systems cannot do it for folders
            raise
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """The same for all that lies below a folder, and the folder."""
    for path in (*Path(folder).rglob("*"), Path(folder)):
        sync(path)


# no space, over the quota, over the limit on a file's size
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@contextmanager
def room_for(path: Path, needed: int | None = None, then: str = "what is finished is kept") -> Iterator[None]:
    """Turn a full disk into a UserError that says what could not be written, how much it needs and what is free."""
    try:
        yield
    except Exception as failure:
        if (number := full_disk(failure)) is None:
            raise
        place = next(folder for folder in (Path(path), *Path(path).absolute().parents) if folder.is_dir())
        free = "unknown"
        with suppress(OSError):
            free = f"{shutil.disk_usage(place).free / 1e6:,.1f} MB"
        need = f", {needed / 1e6:,.1f} MB needed" if needed else ""
        cause = os.strerror(number).lower()
        raise UserError(
            f"cannot write {path}: {cause} ({free} free{need}). Make room and start again: {then}"
        ) from None


def full_disk(failure: BaseException | None) -> int | None:
    """The number of a full disk's error in an exception or in what led to it; torch raises another one on top."""
    while failure:
        # libraries in Rust, and shutil's copies of folders, only leave the number in their text
        told = re.search(r"(?:os error |Errno )(\d+)", str(failure))
        number = getattr(failure, "errno", None) or (int(told[1]) if told else None)
        if number in FULL:
            return number
        failure = failure.__context__
    return None


def tree_sha256(folder: Path) -> str:
    """One sha256 for the names and contents of all files below a folder."""
    digest = hashlib.sha256()
    for file in sorted(path for path in Path(folder).rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(folder).as_posix()} {sha256(file)}\n".encode())
    return digest.hexdigest()


def sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
