"""Fetch a source, from the mirror or from its url; verify it; leave a small record."""

import lzma
import os
import shutil
import tarfile
import urllib.error
import urllib.request
from pathlib import Path, PurePosixPath

from filelock import FileLock
from tqdm import tqdm

from clrepro.data.sources import Source
from clrepro.errors import UserError
from clrepro.paths import DATA, read_json, sha256, write_json

MODEL_FILES = [
    "config.json",
    "model.safetensors",
    "tokenizer*",
    "vocab*",
    "merges.txt",
    "special_tokens_map.json",
]


def fetch(source: Source, mirror: str | None) -> None:
    """Bring a source to ``source.folder`` and write its record last, so that a record vouches for the rest."""
    source.check_reachable(mirror)
    folder = source.folder
    folder.mkdir(parents=True, exist_ok=True)
    kinds = {
        "huggingface": fetch_model,
        "archive": fetch_archive,
        "file": fetch_file,
        "raw": fetch_raw,
        "folder": point_at,
    }
    content = kinds[source.kind](source, mirror, folder)
    write_json(source.record, {"source": source.name, "revision": source.revision, **content})


def fetch_file(source: Source, mirror: str | None, folder: Path) -> dict:
    """A text file; unpacked if it ends in .xz."""
    raw = obtain(source, mirror, folder)
    text = folder / "text.txt"
    temporary = text.with_suffix(".tmp")
    opener = lzma.open if raw.suffix == ".xz" else open
    try:
        with opener(raw, "rb") as packed, open(temporary, "wb") as plain:
            shutil.copyfileobj(packed, plain, 1 << 20)
    except (lzma.LZMAError, EOFError) as failure:
        raise UserError(f"{raw} is not a complete xz file ({failure}); delete it and fetch again") from None
    os.replace(temporary, text)
    return {
        "sha256": sha256(raw),
        "bytes": raw.stat().st_size,
        "path": str(text),
        "text_sha256": sha256(text),
    }


def fetch_raw(source: Source, mirror: str | None, folder: Path) -> dict:
    """A file that its reader takes as it is."""
    raw = obtain(source, mirror, folder)
    return {"sha256": sha256(raw), "bytes": raw.stat().st_size, "path": str(raw)}


def point_at(source: Source, mirror: str | None, folder: Path) -> dict:
    """A folder of the mirror that is too big to copy; what it holds is checked when it is prepared."""
    return {"sha256": None, "path": str(source.in_mirror(mirror))}


def unpack(archive: tarfile.TarFile, folder: Path) -> None:
    """Unpack files and folders, nothing else and nothing outside; TarError for a member that is something else.

    Python's own filter for this came with 3.11.4 and is not relied upon.
    """
    for member in archive.getmembers():
        inside = not PurePosixPath(member.name).is_absolute() and ".." not in PurePosixPath(member.name).parts
        if not inside or not (member.isfile() or member.isdir()):
            raise tarfile.TarError(f"its member '{member.name}' is a link, a device, or lies outside its folder")
    archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))


def fetch_archive(source: Source, mirror: str | None, folder: Path) -> dict:
    """A tar archive, unpacked without leaving its folder; `path` is the folder that holds STS/, of VOC JPEGImages/."""
    raw = obtain(source, mirror, folder)
    tree = folder / "tree"
    temporary = folder / "tree.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    try:
        with tarfile.open(raw) as archive:
            unpack(archive, temporary)
    except (tarfile.TarError, lzma.LZMAError, EOFError) as failure:
        raise UserError(f"{raw} cannot be unpacked as a tar archive: {failure}") from None
    shutil.rmtree(tree, ignore_errors=True)
    os.replace(temporary, tree)
    inside, of = ("JPEGImages", "PASCAL VOC") if source.boxes else ("STS", "SentEval's data")
    roots = sorted(path.parent for path in tree.rglob(inside) if path.is_dir())
    if not roots:
        raise UserError(f"{raw} holds no folder {inside}: it is not an archive of {of}")
    return {"sha256": sha256(raw), "bytes": raw.stat().st_size, "path": str(roots[0])}


def fetch_model(source: Source, mirror: str | None, folder: Path) -> dict:
    """A pretrained model's files, from a folder in the mirror or from the model hub at the pinned revision."""
    model = source.in_mirror(mirror)
    if model is None:
        from huggingface_hub import snapshot_download

        model = folder / "model"
        try:
            snapshot_download(source.url, revision=source.revision, local_dir=model, allow_patterns=MODEL_FILES)
        except Exception as failure:
            raise UserError(
                f"source '{source.name}': cannot download {source.url} at {source.revision[:8]} ({failure}). "
                f"On a machine without network, put its files into <mirror>/{source.mirror}"
            ) from None
    weights = model / "model.safetensors"
    if not weights.is_file():
        raise UserError(f"source '{source.name}': {weights} is missing; clrepro loads safetensors only")
    digest = sha256(weights)
    check_hash(source, digest, weights)
    return {"sha256": digest, "bytes": weights.stat().st_size, "path": str(model)}


def obtain(source: Source, mirror: str | None, folder: Path) -> Path:
    """The raw file, verified: the mirror's own copy where there is one, else a download."""
    raw = source.in_mirror(mirror)
    if raw is None:
        raw = folder / "raw" / Path(source.mirror).name
        raw.parent.mkdir(exist_ok=True)
        if not raw.exists():
            download(source, raw)
    check_hash(source, sha256(raw), raw)
    return raw


def download(source: Source, target: Path) -> None:
    """Stream a url to a file; an interrupted download goes on where it stopped."""
    part = target.with_name(target.name + ".part")
    have = part.stat().st_size if part.exists() else 0
    request = urllib.request.Request(source.url, headers={"Range": f"bytes={have}-"} if have else {})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            resumed = response.status == 206
            total = int(response.headers.get("Content-Length") or 0) + (have if resumed else 0)
            bar = tqdm(total=total, initial=have if resumed else 0, unit="B", unit_scale=True, disable=None)
            with open(part, "ab" if resumed else "wb") as file, bar:
                while chunk := response.read(1 << 20):
                    file.write(chunk)
                    bar.update(len(chunk))
            if total and part.stat().st_size != total:
                raise OSError(f"the connection ended after {part.stat().st_size:,} of {total:,} bytes")
    except (OSError, urllib.error.URLError) as failure:
        raise UserError(
            f"source '{source.name}': cannot download {source.url} ({failure}). What was received is kept; run "
            f"again, or put the file into <mirror>/{source.mirror} and set `mirror:`"
        ) from None
    os.replace(part, target)


def check_hash(source: Source, found: str, file: Path) -> None:
    """Compare with the published sha256, or with the one learned at the first fetch (kept in data/)."""
    learned_file = DATA / "checksums.json"
    learned_file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{learned_file}.lock"):
        learned = read_json(learned_file) if learned_file.exists() else {}
        expected = source.sha256 or learned.get(source.identity)
        if expected is None:
            write_json(learned_file, {**learned, source.identity: found})
            return
    if found != expected:
        start = file.read_bytes()[:15]
        page = " It starts like an HTML page." if start.lstrip().lower().startswith((b"<!doc", b"<html")) else ""
        where = "the source catalogue" if source.sha256 else f"{learned_file}, learned at the first fetch"
        raise UserError(
            f"source '{source.name}': {file} has sha256 {found}, expected {expected} ({where}).{page} "
            "Replace the file by the right one"
        )
