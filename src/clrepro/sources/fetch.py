"""Fetch a source, from the mirror or from its url; verify it; leave a small record.

A record is read by everything downstream and names no place outside the working directory: what stays in the mirror is
reached through a link in the source's folder.
"""

from pathlib import Path

from filelock import FileLock

from clrepro.errors import UserError
from clrepro.paths import make_link, read_json, sha256, write_json
from clrepro.sources.download import download, download_model, looks_like_a_page
from clrepro.sources.source import Source
from clrepro.sources.unpack import unpack_tar, unpack_text

MANIFEST = "manifest.json"


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
    raw, digest = obtain(source, mirror, folder)
    text = folder / "text.txt"
    unpack_text(raw, text)
    return {"sha256": digest, "bytes": raw.stat().st_size, "path": str(text), "text_sha256": sha256(text)}


def fetch_raw(source: Source, mirror: str | None, folder: Path) -> dict:
    """A file that its reader takes as it is."""
    raw, digest = obtain(source, mirror, folder)
    return {"sha256": digest, "bytes": raw.stat().st_size, "path": str(at_home(raw, source))}


def point_at(source: Source, mirror: str | None, folder: Path) -> dict:
    """A folder of the mirror that is too big to copy; what it holds is checked when it is prepared."""
    return {"sha256": None, "path": str(at_home(source.in_mirror(mirror), source))}


def fetch_archive(source: Source, mirror: str | None, folder: Path) -> dict:
    """A tar archive, unpacked without leaving its folder; `path` is the folder that holds STS/, of VOC JPEGImages/."""
    raw, digest = obtain(source, mirror, folder)
    tree = folder / "tree"
    unpack_tar(raw, tree)
    inside, of = ("JPEGImages", "PASCAL VOC") if source.boxes else ("STS", "SentEval's data")
    roots = sorted(path.parent for path in tree.rglob(inside) if path.is_dir())
    if not roots:
        raise UserError(f"{raw} holds no folder {inside}: it is not an archive of {of}")
    return {"sha256": digest, "bytes": raw.stat().st_size, "path": str(roots[0])}


def fetch_model(source: Source, mirror: str | None, folder: Path) -> dict:
    """A pretrained model's files, from a folder in the mirror or from the model hub at the pinned revision."""
    model = source.in_mirror(mirror)
    if model is None:
        model = folder / "model"
        if not model.exists():
            download_model(source, model)
    weights = model / "model.safetensors"
    if not weights.is_file():
        raise UserError(f"source '{source.name}': {weights} is missing; clrepro loads safetensors only")
    digest = sha256(weights)
    check_hash(source, digest, weights)
    if source.in_mirror(mirror):
        check_beside(source, mirror)
    return {"sha256": digest, "bytes": weights.stat().st_size, "path": str(at_home(model, source))}


def obtain(source: Source, mirror: str | None, folder: Path) -> tuple[Path, str]:
    """The raw file, verified, and its sha256: the mirror's own copy where there is one, else a download."""
    raw = source.in_mirror(mirror)
    if raw is not None:
        digest = sha256(raw)
        check_beside(source, mirror, {raw: digest})
    else:
        raw = folder / "raw" / Path(source.mirror).name
        digest = sha256(raw) if raw.exists() else download(source, raw, learned(source))
    check_hash(source, digest, raw)
    return raw, digest


def at_home(path: Path, source: Source) -> Path:
    """The same file or folder by a name below ``source.folder``: a link there if it lies in the mirror."""
    if path.is_relative_to(source.folder):
        return path
    link = source.link
    link.parent.mkdir(parents=True, exist_ok=True)
    make_link(path, link)
    return link


def read_manifest(mirror: str | Path) -> dict[str, dict]:
    """{path in the mirror: source, revision, url, sha256, bytes} that `clrepro mirror` wrote; empty without it."""
    file = Path(mirror) / MANIFEST
    if not file.is_file():
        return {}
    try:
        return read_json(file)["files"]
    except (ValueError, KeyError, TypeError) as failure:
        raise UserError(f"{file} is damaged ({failure!r}); delete it and run clrepro mirror again") from None


def files_of(source: Source, manifest: dict[str, dict]) -> dict[str, dict]:
    """The manifest's part for a source."""
    return {path: entry for path, entry in manifest.items() if entry["source"] == source.name}


def check_beside(source: Source, mirror: str, known: dict[Path, str] | None = None) -> None:
    """Compare a source's files in a mirror with its manifest; ``known``: sha256 that were computed already."""
    for path, entry in files_of(source, read_manifest(mirror)).items():
        file = Path(mirror) / path
        if entry["revision"] != source.revision:
            raise UserError(
                f"source '{source.name}': the mirror has revision {entry['revision']}, needed is {source.revision}; "
                "run clrepro mirror again"
            )
        if not file.is_file():
            raise UserError(f"source '{source.name}': {file} is missing, but {MANIFEST} names it")
        found = (known or {}).get(file) or sha256(file)
        if found != entry["sha256"]:
            raise wrong_hash(source, file, found, entry["sha256"], f"{MANIFEST} of the mirror")


def learned(source: Source) -> str | None:
    """The sha256 that a source without a published one had at its first fetch to this folder of data."""
    file = source.data / "checksums.json"
    return read_json(file).get(source.identity) if file.exists() else None


def check_hash(source: Source, found: str, file: Path) -> None:
    """Compare with the published sha256, or with the one learned at the first fetch (kept beside the data)."""
    learned_file = source.data / "checksums.json"
    learned_file.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{learned_file}.lock"):
        expected = source.sha256 or learned(source)
        if expected is None:
            everything = read_json(learned_file) if learned_file.exists() else {}
            write_json(learned_file, {**everything, source.identity: found})
    if expected and found != expected:
        where = "the source catalogue" if source.sha256 else f"{learned_file}, learned at the first fetch"
        raise wrong_hash(source, file, found, expected, where)


def wrong_hash(source: Source, file: Path, found: str, expected: str, where: str) -> UserError:
    return UserError(
        f"source '{source.name}': {file} has sha256 {found}, expected {expected} ({where})."
        f"{looks_like_a_page(file)} Replace the file by the right one"
    )
