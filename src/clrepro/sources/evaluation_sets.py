"""SentEval's data without a project around: fetched once for a user, into a cache folder."""

import os
from dataclasses import dataclass, replace
from pathlib import Path

from filelock import FileLock

from clrepro.console import say
from clrepro.errors import UserError
from clrepro.paths import DATA, read_json
from clrepro.sources.fetch import fetch
from clrepro.sources.source import Source, source

NAMES = ("senteval-simcse", "senteval-downstream")  # the first is preferred


@dataclass(frozen=True)
class Fetched:
    """root: the folder that holds STS/, SICK/, MR/ ...; source: name@revision; sha256 of the archive."""

    root: Path
    source: str
    sha256: str


def cache_folder() -> Path:
    """``$XDG_CACHE_HOME/clrepro``, that is ~/.cache/clrepro unless somebody says otherwise."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").expanduser() / "clrepro"


def senteval(mirror: str | None = None) -> Fetched:
    """SentEval's data: the working directory's, else the cache folder's, else fetched into the latter.

    mirror: a folder that is used in place of the network. Says what is fetched before it is: its size, licence and
    origin. One archive holds the data of all tasks, so all of it is fetched for any of them. UserError where it cannot
    be had, or where its sha256 is another than the published one, or than that of the first fetch.
    """
    known = [replace(source(name), data=place) for name in NAMES for place in (DATA, cache_folder())]
    for one in known:
        if found := present(one):
            return found
    wanted = [one for one in known if one.data != DATA]
    chosen = next((one for one in wanted if one.in_mirror(mirror)), wanted[0])
    try:
        chosen.folder.mkdir(parents=True, exist_ok=True)
        with FileLock(chosen.folder / ".lock"):
            if found := present(chosen):  # by another process, in the meantime
                return found
            chosen.check_reachable(mirror)
            origin = chosen.in_mirror(mirror) or chosen.url
            say(f"{chosen.name}: {chosen.what}\n  {chosen.megabytes:g} MB from {origin} to {chosen.folder}")
            say(f"  licence: {chosen.licence}")
            fetch(chosen, mirror)
    except OSError as failure:
        raise UserError(
            f"{failure.filename or chosen.folder}: cannot write there ({failure.strerror or failure}); set "
            "XDG_CACHE_HOME to a folder that you may write to"
        ) from None
    return present(chosen)


def present(one: Source) -> Fetched | None:
    """What was fetched before, if it is still there."""
    if not one.record.exists():
        return None
    about = read_json(one.record)
    root = Path(about["path"])
    return Fetched(root, one.identity, about["sha256"]) if root.is_dir() else None
