"""Compare what lies on the disk with every sha256 that a scale's records state.

Records of sources, of prepared data and of runs name their big files; the lists of jobs (`manifest`) and Snakemake's
job records hold the sha256 of the small ones. DVC's md5 says whether a file is the one that was pushed; these, whether
it is the one that the numbers come from.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from clrepro.paths import DATA, RESULTS, read_json, sha256, tree_sha256
from clrepro.sources.source import Source
from clrepro.workflow import records


@dataclass(frozen=True)
class Stated:
    """The sha256 that a record states of a file or of a folder's content."""

    path: Path
    sha256: str
    by: Path


def verify(scale: str, sources: Iterable[Source], manifests: Iterable[Path]) -> tuple[int, list[str]]:
    """How many files were compared, and a line for each that is missing, changed, or whose record cannot be read."""
    problems: list[str] = []
    # of several statements about one path the last counts: the latest reader's, or the record that names it
    wanted = {entry.path: entry for entry in stated(scale, sources, manifests, problems)}
    for entry in tqdm(wanted.values(), desc="verify", unit="file", disable=None):
        if not entry.path.exists():
            problems.append(f"{entry.path}: missing, named by {entry.by}")
            continue
        found = tree_sha256(entry.path) if entry.path.is_dir() else sha256(entry.path)
        if found != entry.sha256:
            problems.append(f"{entry.path}: changed: sha256 {found}, but {entry.by} says {entry.sha256}")
    return len(wanted), problems


def stated(scale: str, sources: Iterable[Source], manifests: Iterable[Path], problems: list[str]) -> Iterator[Stated]:
    """All that the records on the disk state."""
    yield from of_jobs(scale)
    kinds = [(source.record, of_source) for source in sources]
    prepared = DATA / "prepared" / scale
    kinds += [(file, of_tokens) for file in sorted(prepared.glob("*/tokens.json"))]
    kinds += [(file, of_model) for file in sorted(prepared.glob("*/backbone.json"))]
    kinds += [(file, of_prepared) for file in sorted(prepared.glob("*/record.json"))]
    kinds += [(file, of_manifest) for file in manifests]
    kinds += [(file, of_run) for file in sorted((RESULTS / scale / "runs").rglob("record.json"))]
    for record, read in kinds:
        if not record.exists():
            continue  # nothing was made of it yet
        try:
            yield from read(record, read_json(record))
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as failure:
            problems.append(f"{record}: cannot be read ({failure!r}); delete it to make it again")


def of_jobs(scale: str) -> Iterator[Stated]:
    """What jobs have read, by the latest reader; what is gone, temporary or not, is for Snakemake to miss."""
    file = records.stored(scale)
    rows = list(records.rows_of(file)) if file.exists() else []
    for row in sorted(rows, key=lambda row: row.get("endtime") or 0):
        for path, checksum in (row.get("input_checksums") or {}).items():
            algorithm, _, digest = str(checksum).rpartition(":")
            if algorithm == "sha256" and Path(path).is_file() and Path(row["target"]).exists():
                yield Stated(Path(path), digest, file)


def of_source(record: Path, content: dict) -> Iterator[Stated]:
    path = Path(content["path"])
    if content.get("text_sha256"):
        yield Stated(path, content["text_sha256"], record)
    elif content["sha256"] and (path.is_file() or not path.exists()):
        yield Stated(path, content["sha256"], record)
    elif content["sha256"] and (path / "model.safetensors").exists():
        yield Stated(path / "model.safetensors", content["sha256"], record)
    elif content["sha256"] and record.parent.parent.name == "generated":
        yield Stated(path, content["sha256"], record)
    # a downloaded archive, beside what it was unpacked to; what is left of an interrupted download is nobody's
    for raw in sorted((record.parent / "raw").glob("*")):
        if ".part" not in raw.suffixes:
            yield Stated(raw, content["sha256"], record)


def of_tokens(record: Path, content: dict) -> Iterator[Stated]:
    for name, digest in zip(("tokens.bin", "offsets.bin"), content["sha256"], strict=True):
        yield Stated(record.parent / name, digest, record)


def of_model(record: Path, content: dict) -> Iterator[Stated]:
    yield Stated(Path(content["path"]) / "model.safetensors", content["sha256"], record)


def of_prepared(record: Path, content: dict) -> Iterator[Stated]:
    """Data made ready: `files` by name, or those of `splits`."""
    if "files" in content:
        for name, digest in content["files"].items():
            yield Stated(record.parent / name, digest, record)
        return
    for split, part in content["splits"].items():
        if "files" not in part:  # images with boxes have one index a split
            yield Stated(record.parent / f"{split}.json", part["sha256"], record)
        for name, entry in part.get("files", {}).items():
            yield Stated(record.parent / split / name, entry["sha256"], record)


def of_manifest(record: Path, content: dict) -> Iterator[Stated]:
    """What a job that several runs share has made."""
    for name, digest in content["files"].items():
        yield Stated(Path(name), digest, record)


def of_run(record: Path, content: dict) -> Iterator[Stated]:
    for entry in (content["model"], *content.get("checkpoints", [])):
        yield from of_model(record, entry)
