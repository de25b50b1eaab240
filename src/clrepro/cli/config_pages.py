"""The configuration's documentation, written from its model: docs/config.md and docs/config.schema.json."""

import json
from typing import Any

from clrepro.config import model


def schema() -> str:
    """The JSON schema, for editors (a YAML language server reads it from the first line of config.yaml)."""
    return json.dumps(model().model_json_schema(), indent=2, ensure_ascii=False) + "\n"


def reference() -> str:
    """The reference page, in Markdown."""
    parts = [
        "# Configuration\n\nGenerated from `src/clrepro/settings.py` and `src/clrepro/modalities/*/section.py` by "
        "`make docs`; do not edit.\n\n"
        "`config.yaml` is the demo. `--configfile config/bench.yaml` or `config/paper.yaml` replaces it, since "
        "they name another scale; a file that names no scale overlays it key by key. Single settings go above "
        "all files: `--set sentence.training.learning_rate=1e-4` with `clrepro`'s commands, "
        '`--config set="sentence.training.learning_rate=1e-4"` with Snakemake (a list for several: '
        '`--config set=\'["seeds=[7]", "device=cpu"]\'`). Numbers may be written `3e-5` or `3.0e-5`.\n'
    ]
    schema = model().model_json_schema()
    sections = {"the top level": schema, **schema["$defs"]}
    for name, section in sections.items():
        parts.append(f"\n## {name}\n\n{section.get('description', '')}\n\n")
        parts.append("| key | type | default | meaning |\n|---|---|---|---|\n")
        required = section.get("required", [])
        for key, entry in section.get("properties", {}).items():
            default = "required" if key in required else f"`{json.dumps(entry.get('default'))}`"
            if isinstance(entry.get("default"), dict):
                default = "see below"
            elif "default" not in entry and key not in required:
                default = "found when read"  # by a function
            parts.append(f"| `{key}` | {_type(entry)} | {default} | {entry.get('description', '')} |\n")
    return "".join(parts)


def _type(entry: dict[str, Any]) -> str:
    if "$ref" in entry:
        return entry["$ref"].rsplit("/", 1)[1]
    if "enum" in entry or "const" in entry:
        return ", ".join(f"`{value}`" for value in entry.get("enum", [entry.get("const")]))
    if "anyOf" in entry or "oneOf" in entry:
        return " or ".join(_type(option) for option in entry.get("anyOf", entry.get("oneOf")))
    if entry.get("type") == "array":
        return f"list of {_type(entry['items'])}"
    if entry.get("type") == "object":
        return f"mapping to {_type(entry['additionalProperties'])}"
    bounds = [
        f"{sign} {entry[key]:g}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("exclusiveMaximum", "<"))
        if key in entry
    ]
    return f"{entry.get('type', 'any')}{' ' + ', '.join(bounds) if bounds else ''}"
