"""The conda environments: every package that a rule's jobs may import, at the lock's version, and no other."""

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
import yaml

from clrepro.paths import ROOT
from clrepro.workflow import fingerprint

RULE = re.compile(r'^rule (\w+):.*?^    conda:\n        "\.\./(\S+)".*?^    script:\n        "\.\./(\S+)"', re.M | re.S)
MODULE = re.compile(r"(clrepro(?:\.\w+)+)(?::\w+)?")
CONDA_NAMES = {"torch": "pytorch", "huggingface-hub": "huggingface_hub"}  # where conda-forge has another name
OPTIONAL = {"pynvml"}  # energy of GPUs is recorded where it is installed
# imported for a GPU's name alone; tests/test_startup.py sees that jobs of this environment do without
NEVER = {"envs/data.yaml": {"torch"}}


def rules() -> dict[str, tuple[str, str]]:
    """The environment and the script of every rule with a job."""
    found = [match for file in sorted((ROOT / "rules").glob("*.smk")) for match in RULE.findall(file.read_text())]
    return {name: (environment, script) for name, environment, script in found}


def named(node: ast.AST, lazy: bool) -> Iterator[str]:
    """The modules that code imports; lazy: also inside functions, and those that it names in a string."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.FunctionDef) and not lazy:
            continue
        if isinstance(child, ast.Import):
            yield from (alias.name for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from (child.module, *(f"{child.module}.{alias.name}" for alias in child.names))
        elif lazy and isinstance(child, ast.Constant) and isinstance(child.value, str):
            match = MODULE.fullmatch(child.value)
            yield from match.groups() if match else ()
        elif lazy and isinstance(child, ast.Attribute) and child.attr == "to_markdown":
            yield "tabulate"  # pandas writes Markdown with it
        yield from named(child, lazy)


def file_of(module: str) -> Path | None:
    path = (ROOT / "src").joinpath(*module.split("."))
    return next((file for file in (path.with_suffix(".py"), path / "__init__.py") if file.is_file()), None)


@cache
def imported(module: str, lazy: bool) -> tuple[str, ...]:
    return tuple(named(ast.parse(file_of(module).read_text("utf-8")), lazy))


def third_party(names: Iterable[str]) -> set[str]:
    tops = {name.split(".")[0] for name in names}
    return tops - set(sys.stdlib_module_names) - {"clrepro"}


def reached(entries: Iterable[str], lazy: bool) -> set[str]:
    """The packages outside the standard library that modules import, and the clrepro modules that these import."""
    queue, seen, found = list(entries), set(), third_party(entries)
    while queue:
        module = queue.pop()
        # the lists of what is hashed are no imports
        if module in seen or not module.startswith("clrepro") or module == "clrepro.workflow.fingerprint":
            continue
        seen.add(module)
        queue.append(module.rpartition(".")[0])  # the package around it is run as well
        if file_of(module):
            queue += imported(module, lazy)
            found |= third_party(imported(module, lazy))
    return found


def needed(rule: str, environment: str, script: str) -> set[str]:
    """What a rule's jobs may import.

    Without torch: what its script imports at once, and whatever the code that decides its result imports anywhere. With
    torch: all that can be reached from the script, since one environment serves every modality and evaluation.
    """
    entries = tuple(named(ast.parse((ROOT / script).read_text("utf-8")), lazy=True))
    if environment == "envs/torch.yaml":
        return reached(entries, lazy=True) - OPTIONAL
    stage = {"printed_tables": "table", "grid": "table"}.get(rule, rule)
    code = fingerprint.modules(*fingerprint.STAGES[stage], planning=stage in fingerprint.READING)
    inside = third_party(name for module in code for name in imported(module, lazy=True))
    return reached(entries, lazy=False) | inside - OPTIONAL - NEVER[environment]


def pins(environment: str) -> dict[str, str]:
    entries = yaml.safe_load((ROOT / environment).read_text())["dependencies"]
    assert entries == [entries[0], *sorted(entries[1:])], f"{environment} is not in order"
    return dict(entry.split("=") for entry in entries)


def locked() -> dict[str, str]:
    """The lock's versions for Python 3.11: it holds one a Python where these differ."""
    lines = re.findall(r"^([a-z0-9-]+)==([^ ;]+)(?: ; (.*?))? \\$", (ROOT / "requirements.lock").read_text(), re.M)
    return {name: version for name, version, marker in lines if "python_full_version >= '3.1" not in marker}


def test_every_rule_with_a_job_names_an_environment():
    scripts = {f"scripts/{file.name}" for file in (ROOT / "scripts").glob("*.py")}
    assert {script for _, script in rules().values()} == scripts
    assert {environment for environment, _ in rules().values()} == {
        f"envs/{file.name}" for file in (ROOT / "envs").glob("*.yaml")
    }


@pytest.mark.parametrize("environment", ["envs/data.yaml", "envs/torch.yaml"])
def test_an_environment_holds_what_its_rules_import_at_the_locks_versions_and_nothing_else(environment):
    distributions, versions = packages_distributions(), locked()
    expected = {"python": "3.11"}
    for rule, (file, script) in rules().items():
        for top in needed(rule, file, script) if file == environment else ():
            name = distributions[top][0].lower().replace("_", "-") if top in distributions else top
            expected[CONDA_NAMES.get(name, name)] = versions[name]
    assert pins(environment) == expected


def test_what_is_imported_late_or_by_name_is_found():
    assert {"umap", "numba", "rdkit", "tokenizers", "tabulate"} <= reached(
        ["clrepro.stages", "clrepro.report.theory"], True
    )
    assert not {"torch", "matplotlib"} & reached(["clrepro.stages"], lazy=False)
