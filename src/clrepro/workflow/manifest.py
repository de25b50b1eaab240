"""What a job that several runs share has made: a list of its files by sha256, which is the job's declared output.

Later jobs depend on the list, so a start after which the bytes are the same repeats nothing. What is deleted or
overwritten behind the list's back is found at the start of the workflow (`lost`, `taken`).
"""

from collections.abc import Iterable
from pathlib import Path

from clrepro.console import say
from clrepro.paths import read_json, sha256, write_json

Lost = dict[str, list[str]]  # what is gone or overwritten, by the output that vouches for it


def write(file: Path, members: Iterable[Path]) -> None:
    """List files that a job has made."""
    write_json(file, {"files": {str(member): sha256(member) for member in members}})


def members(file: Path) -> dict[str, str]:
    """The listed files with their sha256; none of a list that is not there or that cannot be read."""
    try:
        return dict(read_json(file)["files"])
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def lost(files: Iterable[Path]) -> Lost:
    """The lists of which files are missing or overwritten, with these files; a broken list counts as well.

    Overwritten: by a job of another configuration, which cuts the same runs into other jobs and asks other scores.
    """
    found = {}
    for file in filter(Path.is_file, files):
        listed, written = members(file), file.stat().st_mtime_ns
        wrong = [name for name, digest in listed.items() if not is_there(Path(name), digest, written)]
        if wrong or not listed:
            found[str(file)] = wrong or ["its content"]
    return found


def is_there(member: Path, digest: str, written: int) -> bool:
    """Whether a file is the listed one; only what is younger than the list (in ns) is read again."""
    return member.is_file() and (member.stat().st_mtime_ns <= written or sha256(member) == digest)


def taken(files: Iterable[Path], made: Iterable[Path]) -> Lost:
    """Files that other jobs make now (`made`) and that lists still name as theirs, and these lists.

    What lies there is what the list's job wrote: a table of holes, say, that has runs in this configuration.
    """
    made, found = {str(file) for file in made}, {}
    for file in files:
        for name in made.intersection(members(file)):
            found[name] = found[str(file)] = [name]
    return found


def forget(found: Lost) -> None:
    """Remove outputs that no longer vouch for anything, so that their jobs run again; say which."""
    for file, wrong in found.items():
        more = f" and {len(wrong) - 1} more" if wrong[1:] else ""
        say(f"{file}: gone or overwritten: {wrong[0]}{more}; its job runs again")
    clear(map(Path, found))


def clear(files: Iterable[Path]) -> None:
    """Remove what a job is about to make, as Snakemake does with declared outputs: old files must not pass for new."""
    for file in files:
        Path(file).unlink(missing_ok=True)
