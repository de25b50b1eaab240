"""A sentence encoder's weights and tokenizer made ready, and the corpus tokenised for it."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from clrepro.errors import UserError
from clrepro.modalities.run import Build
from clrepro.modalities.sentence.section import Sentence
from clrepro.paths import DATA, digest
from clrepro.sources.source import Source, source


@dataclass(frozen=True, eq=False)
class SentenceBuild(Build):
    """spec: of the configuration's backbone. corpus: what tells the training sentences apart, see `corpus_identity`."""

    work = "clrepro.modalities.sentence.preparing:prepare"
    code = ("clrepro.modalities.sentence.preparing",)

    spec: dict
    corpus: dict
    max_length: int

    @property
    def identity(self) -> dict:
        if self.spec["kind"] == "scratch":
            return {**self.spec, "corpus": self.corpus}
        if self.weights:
            return {"kind": "pretrained", "weights": self.weights.identity}
        # a record names no folder of this machine; the digest tells folders of one name apart
        path = self.spec["path"]
        return {"kind": "pretrained", "weights": f"{Path(path).name}@{digest(path)}"}

    @property
    def weights(self) -> Source | None:
        """The source of pretrained weights, if they come from one."""
        return source(self.spec["source"]) if self.spec.get("source") else None

    @property
    def sources(self) -> list[Source]:
        return [part for part in (source(self.corpus["source"].split("@")[0]), self.weights) if part]

    @property
    def outside(self) -> tuple[int, int] | None:
        """Size and time of a local folder's weights: when they are replaced, the backbone is prepared again."""
        if not self.spec.get("path"):
            return None
        status = (Path(self.spec["path"]) / "model.safetensors").stat()
        return status.st_size, status.st_mtime_ns

    @cached_property
    def folder(self) -> Path:
        name = digest({"backbone": self.identity, "corpus": self.corpus, "max_length": self.max_length})
        return DATA / "prepared" / self.scale / f"{self.key}-{name}"

    @property
    def records(self) -> tuple[Path, Path]:
        return self.folder / "tokens.json", self.folder / "backbone.json"


def sentence_build(section: Sentence, scale: str, key: str, max_length: int) -> SentenceBuild:
    """The build of one of the configuration's backbones; a spec that cannot be is a UserError."""
    spec: dict[str, Any] = section.backbones[key].model_dump()
    if spec.get("mlm_lines", 0) is None:  # a field that is off changes no identity
        del spec["mlm_lines"]
    if spec["kind"] == "pretrained" and (spec["source"] is None) == (spec["path"] is None):
        raise UserError(f"sentence.backbones.{key}: give either `source` or `path`")
    if spec.get("source"):
        source(spec["source"], f"sentence.backbones.{key}")
    if spec.get("path"):
        for needed in ("config.json", "model.safetensors"):
            if not (Path(spec["path"]) / needed).is_file():
                raise UserError(f"sentence.backbones.{key}: '{Path(spec['path']) / needed}' is missing")
    return SentenceBuild(key, scale, spec, corpus_identity(section), max_length)


def corpus_identity(section: Sentence) -> dict:
    return {
        "source": source(section.corpus, "sentence.corpus").identity,
        "lines": section.corpus_lines,
        "blank_lines": section.blank_lines,
    }
