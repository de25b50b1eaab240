"""Unpack what was downloaded: inside its folder, files and folders only, and only what the disk can hold."""

import lzma
import os
import shutil
import tarfile
import zlib
from pathlib import Path, PurePosixPath

from clrepro.errors import UserError
from clrepro.sources.download import SPARE, check_space


def unpack_tar(raw: Path, folder: Path) -> None:
    """Unpack a tar archive, compressed or not; ``folder`` appears when all of it is there."""
    temporary = folder.with_name(f"{folder.name}.tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with tarfile.open(raw) as archive:
            check_members(archive, raw, folder.parent)
            # Python's own filter came with 3.11.4; check_members does not rely on it
            archive.extractall(temporary, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, OSError) as failure:
        shutil.rmtree(temporary, ignore_errors=True)
        raise UserError(f"{raw} cannot be unpacked as a tar archive: {failure}") from None
    shutil.rmtree(folder, ignore_errors=True)
    os.replace(temporary, folder)


def check_members(archive: tarfile.TarFile, raw: Path, place: Path) -> None:
    """TarError for a link, a device or a path that leads out; UserError for more bytes than ``place`` can hold."""
    free = shutil.disk_usage(place).free - SPARE
    declared = 0
    for member in archive:
        path = PurePosixPath(member.name)
        if path.is_absolute() or ".." in path.parts or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"its member '{member.name}' is a link, a device, or lies outside its folder")
        declared += member.size
        if declared > free:
            check_space(place, declared, f"{raw}, unpacked,")


def unpack_text(raw: Path, text: Path) -> None:
    """A text file, unpacked if it ends in .xz; ``text`` appears when it is complete."""
    temporary = text.with_suffix(".tmp")
    opener = lzma.open if raw.suffix == ".xz" else open
    free = shutil.disk_usage(text.parent).free - SPARE
    try:
        with opener(raw, "rb") as packed:
            # an xz file says its size at its end only: it is read once to count, then to write
            size = 0
            while (chunk := len(packed.read(1 << 20))) and size <= free:
                size += chunk
            check_space(text.parent, size, f"{raw}, unpacked, at least")
            packed.seek(0)
            with open(temporary, "wb") as plain:
                shutil.copyfileobj(packed, plain, 1 << 20)
    except (lzma.LZMAError, EOFError) as failure:
        raise UserError(f"{raw} is not a complete xz file ({failure}); delete it and fetch again") from None
    os.replace(temporary, text)
