"""The catalogue of data sources: where every byte comes from, and how it is recognised."""

from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import yaml

from clrepro.errors import UserError, unknown
from clrepro.paths import DATA


@dataclass(frozen=True)
class Source:
    """One entry of sources.yaml; that file explains the fields."""

    name: str
    kind: str
    what: str
    url: str | None
    revision: str
    sha256: str | None
    megabytes: float
    licence: str
    mirror: str | None
    sentences: int | None = None
    encoder: dict = field(default_factory=dict)
    images: dict = field(default_factory=dict)  # kind, statistics, train, test, classes, channels, side
    boxes: dict = field(default_factory=dict)  # split, images
    graphs: dict = field(default_factory=dict)  # clrepro.modalities.graph.tu_files.read
    molecules: dict = field(default_factory=dict)  # clrepro.modalities.graph.molecules.files
    data: Path = DATA  # where it is fetched to; clrepro.sources.evaluation_sets has another place

    @property
    def folder(self) -> Path:
        kind = "generated" if self.kind == "generated" else "sources"
        return self.data / kind / f"{self.name}-{self.revision[:8]}"

    @property
    def record(self) -> Path:
        """The small file that says what was fetched; rules depend on it."""
        return self.folder / "record.json"

    @property
    def link(self) -> Path:
        """Where the working directory reaches what stays in the mirror."""
        return self.folder / "mirrored" / Path(self.mirror or "none").name

    @property
    def identity(self) -> str:
        return f"{self.name}@{self.revision}"

    @property
    def checked(self) -> str:
        """How its bytes are checked where the catalogue has no sha256."""
        if self.kind == "generated":
            return "none: it is generated, by code whose fingerprint the workflow keeps"
        if self.kind == "folder":
            return "none: the folder is used where it lies; its images are counted and opened when it is prepared"
        return "learned at the first fetch"

    def in_mirror(self, mirror: str | None) -> Path | None:
        """The file or folder in the mirror, or None where the mirror does not have it."""
        if mirror is None or self.mirror is None:
            return None
        path = Path(mirror) / self.mirror
        return path if path.exists() else None

    def is_reachable(self, mirror: str | None) -> bool:
        """Whether there is any place that it can come from."""
        there = self.kind == "generated" or self.url or self.record.exists()
        return bool(there) or self.in_mirror(mirror) is not None

    def check_reachable(self, mirror: str | None) -> None:
        """Refuse, before any work, a source that neither exists, nor is mirrored, nor can be downloaded."""
        if mirror is not None and not Path(mirror).is_dir():
            raise UserError(f"mirror: '{mirror}' is not a folder (relative paths start at the working directory)")
        if self.record.exists() and self.link.is_symlink() and not self.link.exists():
            raise UserError(
                f"source '{self.name}': {self.link} leads to {self.link.readlink()}, which is gone; if the mirror has "
                f"moved, set `mirror:` and delete {self.record}. Nothing is trained again for it"
            )
        if self.kind == "generated" or self.record.exists() or self.in_mirror(mirror):
            return
        if mirror is None and self.url:
            return
        if mirror is None:
            raise UserError(
                f"source '{self.name}' has no url, so it must come from a mirror: set `mirror:` to a folder "
                f"that holds {self.mirror}"
            )
        remedy = "run `clrepro mirror`, or fetch once without `mirror:`" if self.url else "put it there"
        raise UserError(f"source '{self.name}': '{Path(mirror) / self.mirror}' is missing from the mirror; {remedy}")


@cache
def sources() -> dict[str, Source]:
    """All sources by name."""
    entries = yaml.safe_load(Path(__file__).with_name("sources.yaml").read_text("utf-8"))
    return {name: Source(name=name, **entry) for name, entry in entries.items()}


def source(name: str, place: str = "") -> Source:
    if name not in sources():
        raise unknown("data source", name, sources(), place)
    return sources()[name]
