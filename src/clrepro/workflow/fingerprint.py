"""Fingerprints of code: what a result depends on, deaf to comments, docstrings and formatting.

Snakemake would see a touched file and miss a changed module that a script imports. A fingerprint is the hash
of the syntax trees of a module and of all clrepro modules that it imports, directly or not. It is built from
the trees' own fields, not from ``ast.dump`` or ``ast.unparse``, whose texts differ between Python versions.
"""

import ast
import hashlib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parents[1]
# fields that carry no behaviour, or that only some Python versions know
SILENT = {"ctx", "kind", "type_comment", "type_ignores", "lineno", "end_lineno", "col_offset"}
# which modules hold what a stage computes; an objective's file comes on top in training
STAGES = {
    "fetch": ["clrepro.sources.fetch"],
    "generate": ["clrepro.demo.generate"],
    "prepare": ["clrepro.modalities.sentence.backbone", "clrepro.modalities.sentence.corpus"],
    "train": ["clrepro.modalities.sentence.training", "clrepro.objectives._objective"],
    "embed": ["clrepro.evaluation.senteval.embed", "clrepro.evaluation.senteval.files"],
    "sts": ["clrepro.evaluation.senteval.sts"],
    "prepare_image": ["clrepro.modalities.image.image_sets"],
    "train_image": ["clrepro.modalities.image.training", "clrepro.objectives._objective"],
    "embed_image": ["clrepro.modalities.image.features", "clrepro.modalities.image.encoder"],
    "probe_image": ["clrepro.modalities.image.probes", "clrepro.modalities.image.pictures"],
    "prepare_detection": ["clrepro.modalities.image.detection.boxes"],
    "detect": [
        "clrepro.modalities.image.detection.fine_tuning",
        "clrepro.modalities.image.detection.precision",
        "clrepro.modalities.image.detection.detector",
    ],
    "transfer": ["clrepro.evaluation.senteval.transfer"],
    "table": ["clrepro.ledger.cells", "clrepro.report.tables"],
    "figure": ["clrepro.report.figures"],
    "report": ["clrepro.report.html"],
    "simulate": ["clrepro.simulation", "clrepro.plotting", "clrepro.objectives._objective"],
    "theory": ["clrepro.theory", "clrepro.report.theory", "clrepro.objectives._objective"],
}
# functions of clrepro.stages that decide a result themselves; training's is only a caller
FUNCTIONS = {
    "prepare": ["prepare"],
    "embed": ["embed"],
    "sts": ["sts", "probe"],
    "transfer": ["transfer", "probe"],
    "prepare_image": ["prepare_images"],
    "embed_image": ["embed_images"],
    "probe_image": ["probe_images"],
    "prepare_detection": ["prepare_detection"],
    "detect": ["detected"],
}
REGISTRY = "clrepro.objectives"
# left out: a new name in the registry, another error text or another folder must not retrain anything
PLUMBING = {REGISTRY, "clrepro", "clrepro.errors", "clrepro.paths"}


def _plain(node: Any) -> Any:
    """A syntax tree as nested tuples, without docstrings and without empty or silent fields."""
    if isinstance(node, ast.AST):
        fields = {name: value for name, value in ast.iter_fields(node) if name not in SILENT}
        body = fields.get("body")
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            first = body[0].value
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                fields["body"] = body[1:]
        kept = tuple((name, _plain(value)) for name, value in sorted(fields.items()) if value not in (None, []))
        return type(node).__name__, kept
    if isinstance(node, list):
        return tuple(_plain(item) for item in node)
    return repr(node)


def of_source(text: str) -> str:
    """The fingerprint of one piece of Python source."""
    return hashlib.sha256(repr(_plain(ast.parse(text))).encode()).hexdigest()


def _file(module: str) -> Path | None:
    path = PACKAGE.joinpath(*module.split(".")[1:])
    for candidate in (path.with_suffix(".py"), path / "__init__.py"):
        if candidate.is_file():
            return candidate
    return None


@cache
def _imports(module: str) -> tuple[str, ...]:
    found: list[str] = []
    for node in ast.walk(ast.parse(_file(module).read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            found += [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
    return tuple(found)


@cache
def _of_module(module: str) -> str:
    return of_source(_file(module).read_text("utf-8"))


@cache
def modules(*entries: str) -> tuple[str, ...]:
    """The clrepro modules that the entries need, themselves included, sorted."""
    found: set[str] = set()
    queue = list(entries)
    while queue:
        module = queue.pop()
        if module in found | PLUMBING or module.split(".")[0] != "clrepro" or not _file(module):
            continue
        found.add(module)
        queue.extend(_imports(module))
    return tuple(sorted(found))


@cache
def of_modules(entries: Iterable[str]) -> str:
    digest = hashlib.sha256()
    for module in modules(*entries):
        digest.update(f"{module} {_of_module(module)}\n".encode())
    return digest.hexdigest()[:16]


@cache
def of_study(study: str, *objectives: str) -> str:
    """The fingerprint of a study of simulation and of the objectives that its settings name."""
    named = (f"clrepro.simulation.{study}", *(f"{REGISTRY}.{name}" for name in objectives))
    return of_modules((*STAGES["simulate"], *named))


def of_theory(studies: Mapping[str, Iterable[str]], *objectives: str) -> str:
    """The fingerprint of the papers' studies of theory, {paper: names}, and of the objectives that they may use."""
    named = (*(f"clrepro.theory.{name}" for part in studies.values() for name in part),
             *(f"{REGISTRY}.{name}" for name in objectives))  # fmt: skip
    return of_modules((*STAGES["theory"], *named))


@cache
def of_stage(stage: str, *objectives: str) -> str:
    """The fingerprint of a stage's code, and of objectives' with it; 16 hexadecimal digits."""
    modules_part = of_modules((*STAGES[stage], *(f"{REGISTRY}.{name}" for name in objectives)))
    if stage == "report":  # its page is also made of templates, a style sheet and a script
        parts = sorted(file for file in (PACKAGE / "report/page").iterdir() if file.suffix in {".j2", ".css", ".js"})
        content = b"".join(file.read_bytes() for file in parts)
        return hashlib.sha256(modules_part.encode() + content).hexdigest()[:16]
    if stage not in FUNCTIONS:
        return modules_part
    trees = [ast.parse(file.read_text("utf-8")) for file in sorted((PACKAGE / "stages").glob("*.py"))]
    defined = {node.name: _plain(node) for tree in trees for node in tree.body if isinstance(node, ast.FunctionDef)}
    wanted = [defined[name] for name in FUNCTIONS[stage]]
    return hashlib.sha256(f"{modules_part} {wanted!r}".encode()).hexdigest()[:16]
