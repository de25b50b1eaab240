"""The configuration: one typed model that checks, completes and documents every key.

``config.yaml`` is the demo; ``config/bench.yaml`` and ``config/paper.yaml`` replace it by naming another
scale; any further file given by ``--configfile`` overlays the one before, key by key. Single settings overlay all
files: ``--set sentence.training.learning_rate=1e-4``, and ``--config set=...`` with Snakemake. A project that
``clrepro init`` made has its own copies of these files.
"""

from functools import cache
from pathlib import Path
from typing import Any, get_args, get_origin

import yaml
from pydantic import BaseModel, ValidationError, create_model

from clrepro import modalities
from clrepro.errors import UserError, unknown
from clrepro.modalities.interface import Modality
from clrepro.paths import ROOT
from clrepro.settings import Common

SCALES = {"demo": "config.yaml", "bench": "config/bench.yaml", "paper": "config/paper.yaml"}
Config = Common  # what annotations name; a configuration has the modalities' sections as well, see `model`


def model() -> type[Common]:
    """The configuration's model: what is common to all, and a section for every modality."""
    return _model(tuple(modalities.MODALITIES.values()))


@cache
def _model(known: tuple[Modality, ...]) -> type[Common]:
    sections: dict[str, Any] = {}
    for one in known:
        required = any(field.is_required() for field in one.section.model_fields.values())
        sections[one.key] = (one.section, ... if required else one.section())
    return create_model("Config", __base__=Common, __doc__="clrepro's configuration.", **sections)


def _parts(annotation: Any) -> list[Any]:
    """The models that a field may hold; a mapping stands for itself, since its next key is a name."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    if get_origin(annotation) is dict:
        return [annotation]
    return [part for argument in get_args(annotation) for part in _parts(argument)]


def _fields_at(location: tuple) -> list[str]:
    """The keys that exist where an unknown one was met."""
    places: list[Any] = [model()]
    for step in location:
        found = []
        for place in places:
            if get_origin(place) is dict:
                found += _parts(get_args(place)[1])
            elif step in place.model_fields:
                found += _parts(place.model_fields[step].annotation)
            elif "kind" in place.model_fields and place.model_fields["kind"].default == step:
                found.append(place)  # which of several models a mapping's `kind` says it is
        places = found
    return sorted({name for place in places if get_origin(place) is not dict for name in place.model_fields})


def _explain(error: dict[str, Any]) -> str:
    location = error["loc"]
    place = ".".join(str(part) for part in location)
    if error["type"] == "extra_forbidden":
        *parents, key = location
        known = _fields_at(tuple(parents))
        return str(unknown("key", str(key), known, place=".".join(map(str, parents)) or "the configuration"))
    if error["type"] == "literal_error":
        allowed = [word.strip("'") for word in error["ctx"]["expected"].replace(" or ", ", ").split(", ")]
        return str(unknown("value", str(error["input"]), allowed, place))
    if error["type"] == "missing":
        return f"{place} is missing"
    return f"{place}: {error['msg'].lower()}, got {error['input']!r} ({type(error['input']).__name__})"


def parse(raw: dict[str, Any], place: str = "the configuration") -> Config:
    """Check a configuration, naming every wrong key, type and value at once.

    Its key `set`, a text a.b=value or a list of such, overlays single settings; see `with_settings`.
    """
    given = raw.get("set", [])
    raw = {key: value for key, value in raw.items() if key != "set"}
    try:
        return model().model_validate(with_settings(raw, [given] if isinstance(given, str) else given))
    except ValidationError as failure:
        lines = [_explain(dict(error)) for error in failure.errors()]
        raise UserError(f"{place} is not valid:\n" + "\n".join(f"  - {line}" for line in lines)) from None


def merge(below: dict, above: dict) -> dict:
    """Overlay, key by key; lists and scalars of the upper one win (what Snakemake does with --configfile)."""
    merged = dict(below)
    for key, value in above.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = merge(merged[key], value) if both else value
    return merged


def with_settings(raw: dict[str, Any], settings: Any) -> dict[str, Any]:
    """A configuration with single settings, each as a.b.c=value; the value is read as YAML."""
    if not isinstance(settings, list) or not all(isinstance(one, str) for one in settings):
        raise UserError(
            f"set is {settings!r}; give a text such as sentence.training.learning_rate=1e-4, or a list of these"
        )
    for setting in settings:
        path, equals, text = setting.partition("=")
        if not equals or not all(path.split(".")):
            raise UserError(f"setting '{setting}': write it as sentence.training.learning_rate=1e-4")
        try:
            value = yaml.safe_load(text)
        except yaml.YAMLError as failure:
            raise UserError(f"setting '{setting}': its value is not valid YAML: {failure}") from None
        for key in reversed(path.strip().split(".")):
            value = {key: value}
        raw = merge(raw, value)
    return raw


def read(file: Path) -> dict[str, Any]:
    if not file.is_file():
        raise UserError(f"configuration file '{file}' does not exist")
    try:
        content = yaml.safe_load(file.read_text("utf-8"))
    except yaml.YAMLError as failure:
        raise UserError(f"{file} is not valid YAML: {failure}") from None
    if not isinstance(content, dict):
        raise UserError(f"{file} must hold keys and values, not {type(content).__name__}")
    return content


def shipped(scale: str) -> Config:
    """The configuration of a scale that belongs to this clrepro, whatever the working directory holds."""
    return parse(read(ROOT / SCALES[scale]))


def file_of(scale: str) -> Path:
    """The working directory's own file of a scale, which Snakemake reads there, or else clrepro's."""
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    own = Path(SCALES[scale])
    return own if own.is_file() and read(own).get("scale") == scale else ROOT / own


def load(scale: str = "demo", files: list[Path] | None = None, settings: list[str] | None = None) -> Config:
    """The configuration of a scale, overlaid by further files and single settings, without Snakemake."""
    raw = read(file_of(scale))
    for file in files or []:
        overlay = read(file)
        raw = overlay if "scale" in overlay else merge(raw, overlay)
    return parse(with_settings(raw, settings or []))
