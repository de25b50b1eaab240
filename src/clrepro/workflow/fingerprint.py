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
# which modules hold what a stage that no modality owns computes
STAGES = {
    "fetch": ["clrepro.sources.fetch"],
    "generate": ["clrepro.demo.generate"],
    "table": ["clrepro.ledger.cells", "clrepro.report.tables"],
    "figure": ["clrepro.report.figures"],
    "report": ["clrepro.report.html"],
    "simulate": ["clrepro.simulation", "clrepro.plotting", "clrepro.objectives._objective"],
    "theory": ["clrepro.theory", "clrepro.report.theory", "clrepro.objectives._objective"],
}
READING = {"table", "figure", "report"}
REGISTRY = "clrepro.objectives"
# left out: another error text, another folder or a new name in a registry must not make anything again
ALWAYS = {REGISTRY, "clrepro", "clrepro.console", "clrepro.errors", "clrepro.paths", "clrepro.workflow.fingerprint"}
# left out of what is trained and evaluated: how runs are planned and asked for; identities and parameters say that.
# Tables, figures and the report read scores, captions and comparability from these modules
PLUMBING = ALWAYS | {
    "clrepro.modalities",
    "clrepro.modalities.evaluation",
    "clrepro.modalities.interface",
    "clrepro.modalities.run",
    "clrepro.settings",
    "clrepro.sources.source",
}

# the same, of each modality
PLANNING = {"build", "cost", "evaluations", "forms", "plan", "recipe", "section", "words"}


def is_plumbing(module: str) -> bool:
    """Whether a module cannot change what is computed, or enters in another way."""
    parts = module.split(".")
    return module in PLUMBING or (parts[:2] == ["clrepro", "modalities"] and parts[-1] in PLANNING)


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
def modules(*entries: str, planning: bool = False) -> tuple[str, ...]:
    """The clrepro modules that the entries need, themselves included, sorted; with those that plan, if asked."""
    found: set[str] = set()
    queue = list(entries)
    while queue:
        module = queue.pop()
        left_out = module in ALWAYS if planning else is_plumbing(module)
        if module in found or left_out or module.split(".")[0] != "clrepro" or not _file(module):
            continue
        found.add(module)
        queue.extend(_imports(module))
    return tuple(sorted(found))


@cache
def of_modules(entries: tuple[str, ...], planning: bool = False) -> str:
    digest = hashlib.sha256()
    for module in modules(*entries, planning=planning):
        digest.update(f"{module} {_of_module(module)}\n".encode())
    return digest.hexdigest()[:16]


def of_objectives(entries: Iterable[str], *objectives: str | None) -> str:
    """The fingerprint of modules and of the objectives that are named; 16 hexadecimal digits."""
    return of_modules((*entries, *(f"{REGISTRY}.{name}" for name in objectives if name)))


def of_study(study: str, *objectives: str) -> str:
    """The fingerprint of a study of simulation and of the objectives that its settings name."""
    return of_objectives((*STAGES["simulate"], f"clrepro.simulation.{study}"), *objectives)


def of_theory(studies: Mapping[str, Iterable[str]], *objectives: str) -> str:
    """The fingerprint of the papers' studies of theory, {paper: names}, and of the objectives that they may use."""
    named = (*(f"clrepro.theory.{name}" for part in studies.values() for name in part),
             *(f"{REGISTRY}.{name}" for name in objectives))  # fmt: skip
    return of_modules((*STAGES["theory"], *named))


@cache
def of_stage(stage: str, *objectives: str) -> str:
    """The fingerprint of a stage's code, and of objectives' with it."""
    if stage not in READING:
        return of_objectives(STAGES[stage], *objectives)
    modules_part = of_modules(tuple(STAGES[stage]), planning=True)
    if stage != "report":
        return modules_part
    # its page is also made of templates, style sheets and scripts
    parts = sorted(file for file in (PACKAGE / "report/page").iterdir() if file.suffix in {".j2", ".css", ".js"})
    content = b"".join(file.read_bytes() for file in parts)
    return hashlib.sha256(modules_part.encode() + content).hexdigest()[:16]
