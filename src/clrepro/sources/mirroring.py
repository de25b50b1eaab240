"""Fill a folder with all that a configuration needs, so that nothing else needs the network; check it later.

``manifest.json`` in the mirror names every file with its source, revision, url, sha256 and size. Files that somebody
put there by hand are checked against published checksums, and taken into the manifest as they are where there is none.
"""

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from filelock import FileLock, Timeout

from clrepro.errors import UserError
from clrepro.paths import sha256, write_json
from clrepro.sources.download import check_space, download, download_model, set_aside, size_of
from clrepro.sources.fetch import MANIFEST, files_of, read_manifest
from clrepro.sources.image_folders import FOLDERS, class_folders, split_root
from clrepro.sources.source import Source

MODEL_NEEDS = ("config.json", "model.safetensors")


Need = tuple[Source, bool]  # and whether runs fail without it


@dataclass(frozen=True)
class Finding:
    """What became of a source: ``state`` in a word or two, ``detail`` in a sentence; ``fatal``: that is an error."""

    source: Source
    state: str
    detail: str = ""
    fatal: bool = False

    def __str__(self) -> str:
        return f"{self.source.name}: {self.state}{f': {self.detail}' if self.detail else ''}"


def fill(folder: Path, needed: Iterable[Need]) -> Iterator[Finding]:
    """Download what is missing, verify what is there; one source's failure does not stop the others."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with FileLock(folder / ".mirror.lock", timeout=0):
            for source, required in needed:
                yield bring(folder, source, required)
    except Timeout:
        raise UserError(f"another clrepro mirror is filling {folder}; wait for it") from None
    except OSError as failure:
        raise UserError(f"{failure.filename or folder}: cannot write there ({failure.strerror or failure})") from None


def bring(folder: Path, source: Source, required: bool) -> Finding:
    """One source into the mirror and into its manifest."""
    target = folder / source.mirror
    try:
        if source.kind == "folder":
            problem = folder_problem(source, target) if target.is_dir() else ""
            if target.is_dir() and not problem:
                return Finding(source, "there", "its pictures are checked when it is prepared")
            return by_hand(source, target, required, problem)
        note = ""
        if target.exists():
            problem = difference(folder, source)
            if not problem:
                return Finding(source, "verified", record(folder, source))
            if not source.url:
                return by_hand(source, target, required, problem)
            note = f"{problem}; that is kept as {set_aside(target, target)}"
        if not source.url:
            return by_hand(source, target, required)
        stated = files_of(source, read_manifest(folder)).get(source.mirror, {})
        if source.kind == "huggingface":
            check_space(
                folder, int(source.megabytes * 1e6) - size_of(Path(f"{target}.part")), f"source '{source.name}'"
            )
            target.parent.mkdir(parents=True, exist_ok=True)
            download_model(source, target)
        else:
            download(source, target, stated.get("sha256") if stated.get("revision") == source.revision else None)
        forget(folder, source)
        if problem := difference(folder, source):
            raise UserError(f"source '{source.name}': {problem}")
        return Finding(source, "downloaded", "; ".join(filter(None, [note, record(folder, source)])))
    except UserError as failure:
        return Finding(source, "FAILED", str(failure), fatal=True)


def by_hand(source: Source, target: Path, required: bool, problem: str = "") -> Finding:
    """What nobody may, or can, download automatically."""
    parts = [problem] if problem else []
    parts.append(f"get it yourself ({source.what}; {source.megabytes:g} MB; {source.licence}) and put it at {target}")
    parts += [f"its sha256 is {source.sha256}"] if source.sha256 else []
    parts += [] if required else ["until then the cells that need it stay empty"]
    return Finding(source, "PUT IT THERE", "; ".join(parts), required or bool(problem))


def folder_problem(source: Source, target: Path) -> str:
    """What a look at its folders shows of an image set; the files are too many for one here."""
    try:
        for split in FOLDERS:
            found = len(class_folders(split_root(target, split)))
            if found != source.images["classes"]:
                return f"{target} has {found} classes in {split}, expected {source.images['classes']}"
    except UserError as failure:
        return str(failure)
    return ""


def present(folder: Path, source: Source) -> list[Path]:
    """The files of a source that lies in the mirror."""
    target = folder / source.mirror
    files = [target] if target.is_file() else sorted(path for path in target.rglob("*") if path.is_file())
    return [file for file in files if ".cache" not in file.relative_to(folder).parts]


def difference(folder: Path, source: Source) -> str:
    """In what a source's files differ from the manifest and from the published sha256; empty if in nothing."""
    manifest = files_of(source, read_manifest(folder))
    for path, entry in manifest.items():
        file = folder / path
        if entry["revision"] != source.revision:
            return f"the mirror has revision {entry['revision']} of it, needed is {source.revision}"
        if not file.is_file():
            return f"{file} is missing"
        if file.stat().st_size != entry["bytes"]:
            return f"{file} has {file.stat().st_size:,} bytes, {MANIFEST} says {entry['bytes']:,}"
        if sha256(file) != entry["sha256"]:
            return f"{file} is not the file that {MANIFEST} names: its sha256 differs"
    main = folder / source.mirror
    if source.kind == "huggingface":
        if missing := [name for name in MODEL_NEEDS if not (main / name).is_file()]:
            return f"{main / missing[0]} is missing"
        main = main / "model.safetensors"
    if source.sha256 and (found := sha256(main)) != source.sha256:
        return f"{main} has sha256 {found}, expected {source.sha256}"
    return ""


def record(folder: Path, source: Source) -> str:
    """Take a source's files into the manifest, if they are not; says how large they are, and what vouches for them."""
    manifest = read_manifest(folder)
    known, files = files_of(source, manifest), present(folder, source)
    size = f"{sum(file.stat().st_size for file in files):,} bytes"
    if not known:
        about = {"source": source.name, "revision": source.revision, "url": source.url, "licence": source.licence}
        for file in files:
            entry = {**about, "sha256": sha256(file), "bytes": file.stat().st_size}
            manifest[file.relative_to(folder).as_posix()] = entry
        write_manifest(folder, manifest)
    vouched = source.sha256 or known
    return size if vouched else f"{size}, sha256 learned now: nobody publishes one"


def forget(folder: Path, source: Source) -> None:
    """Take a source, which was replaced, out of the manifest."""
    manifest = read_manifest(folder)
    if files_of(source, manifest):
        write_manifest(folder, {path: entry for path, entry in manifest.items() if entry["source"] != source.name})


def write_manifest(folder: Path, files: dict[str, dict]) -> None:
    now = datetime.now(UTC).isoformat(timespec="seconds")
    write_json(folder / MANIFEST, {"written by": "clrepro mirror", "changed": now, "files": files})


def check(folder: Path, needed: Iterable[Need]) -> Iterator[Finding]:
    """Verify a mirror without network and without writing: what is needed, by its manifest and published sha256."""
    if not folder.is_dir():
        raise UserError(f"mirror: '{folder}' is not a folder")
    for source, required in needed:
        target = folder / source.mirror
        if not target.exists():
            missing = Finding(source, "MISSING", f"{target}; clrepro mirror downloads it", required)
            yield missing if source.url else by_hand(source, target, required)
        elif problem := folder_problem(source, target) if source.kind == "folder" else difference(folder, source):
            yield Finding(source, "WRONG", problem, True)
        elif source.kind == "folder":
            yield Finding(source, "there", "its pictures are checked when it is prepared")
        elif source.sha256 or files_of(source, read_manifest(folder)):
            yield Finding(source, "verified")
        else:
            yield Finding(source, "there", "nothing says what it should be; clrepro mirror records it")


def plan(folder: Path, needed: Iterable[Need]) -> Iterator[Finding]:
    """What `fill` would do, by names alone: nothing is read, asked or written."""
    for source, required in needed:
        target = folder / source.mirror
        have = size_of(Path(f"{target}.part"))
        if target.exists():
            yield Finding(source, "there", "to be verified")
        elif not source.url:
            yield by_hand(source, target, required)
        else:
            resumed = f", {have / 1e6:,.0f} MB of it received" if have else ""
            revision = f" at {source.revision[:8]}, from the model hub" if source.kind == "huggingface" else ""
            yield Finding(source, "to download", f"{source.megabytes:,g} MB{resumed}, {source.url}{revision}")


def to_download(findings: Iterable[Finding]) -> float:
    return sum(finding.source.megabytes for finding in findings if finding.state == "to download")


def place_of(source: Source, mirror: str | None) -> str:
    """Where a source is now, for `clrepro sources`."""
    if source.record.exists() and not os.path.lexists(source.link):
        return f"in the working directory: {source.folder}"
    if source.in_mirror(mirror) is not None:
        used = "in use" if source.record.exists() else "not fetched yet"
        return f"in the mirror: {source.in_mirror(mirror)} ({used})"
    if source.kind == "generated":
        return "made by the first job that needs it"
    if source.url and mirror is None:
        return "to be downloaded by the first job that needs it, or once for all by clrepro mirror"
    if source.url:
        return f"missing from the mirror: clrepro mirror {mirror} downloads it"
    return f"to be got by hand: put it at {Path(mirror or '<mirror>') / source.mirror} (`mirror:` of the configuration)"
