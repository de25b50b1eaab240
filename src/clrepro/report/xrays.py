"""The x-rays in the objectives' documentation: a picture and a verdict for every variant, redone where code changed."""

from collections.abc import Callable, Iterable

import yaml

from clrepro.objectives import names, signatures
from clrepro.paths import ROOT
from clrepro.workflow import fingerprint

FOLDER = ROOT / "docs" / "objectives" / "xray"
VERDICTS = FOLDER / "verdicts.yaml"


def code(name: str) -> str:
    """The fingerprint of what an objective's x-ray depends on."""
    return fingerprint.of_modules(("clrepro.xray.picture", "clrepro.xray.subject", f"clrepro.objectives.{name}"))


def verdicts() -> dict[str, dict]:
    """{name-variant: {code, verdict}} of what has been x-rayed."""
    return yaml.safe_load(VERDICTS.read_text("utf-8")) if VERDICTS.is_file() else {}


def wanted() -> dict[str, tuple[str, str]]:
    return {f"{name}-{variant}": (name, variant) for name in names() for variant in signatures(name)}


def stale() -> list[str]:
    """The x-rays that are missing or older than their code."""
    known = verdicts()
    return [
        label
        for label, (name, _) in wanted().items()
        if known.get(label, {}).get("code") != code(name) or not (FOLDER / f"{label}.png").is_file()
    ]


def write(progress: Callable[[Iterable], Iterable] = iter) -> None:
    """Bring pictures and verdicts up to date; some seconds for each that is stale."""
    from clrepro import plotting
    from clrepro.xray.picture import draw, xray
    from clrepro.xray.subject import subject

    FOLDER.mkdir(parents=True, exist_ok=True)
    for file in FOLDER.glob("*.png"):
        if file.stem not in wanted():
            file.unlink()
    for label in progress(stale()):
        name, variant = wanted()[label]
        result = xray(subject(name, variant, {}))
        with plotting.style():
            plotting.save_small(draw(result), FOLDER / f"{label}.png")
        found = {**verdicts(), label: {"code": code(name), "verdict": result.verdict}}
        kept = {key: found[key] for key in wanted() if key in found}
        VERDICTS.write_text(yaml.safe_dump(kept, sort_keys=False, width=200, allow_unicode=True), "utf-8")
