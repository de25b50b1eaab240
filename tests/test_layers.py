"""The package's rooms lie above each other: imports go downwards and in no circle, and only modalities tell apart."""

import ast
import re
import subprocess
from collections import defaultdict
from functools import cache
from itertools import count

from clrepro.modalities import MODALITIES
from clrepro.paths import ROOT

SOURCE = ROOT / "src" / "clrepro"
# from the bottom to the top; a module imports its own room and those below. Those of a line know nothing of each other
ROOMS = (
    ("errors", "console", "threads"),
    ("paths", "device", "own_code"),
    ("settings", "plotting", "objectives", "sources"),
    ("workflow", "evaluation"),
    ("training", "demo", "simulation", "theory", "xray", "senteval"),
    ("modalities",),
    ("config",),
    ("stages",),
    ("catalogue",),
    ("ledger",),
    ("report",),
    ("cli",),
)
LEVELS = {room: level for level, rooms in enumerate(ROOMS) for room in rooms}
LINES = 300


def room(module: str) -> str:
    return module.split(".")[1]


@cache
def modules() -> dict[str, ast.Module]:
    """Every module but the package itself, by its dotted name."""
    found = {}
    for file in SOURCE.rglob("*.py"):
        parts = ("clrepro", *file.relative_to(SOURCE).with_suffix("").parts)
        found[".".join(parts).removesuffix(".__init__")] = ast.parse(file.read_text("utf-8"))
    del found["clrepro"]
    return found


def named(node: ast.AST) -> list[str]:
    """The modules that a statement imports, and the packages around them, which are run as well."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        assert node.level == 0, "imports name the whole path"
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        return []
    parts = [name.split(".") for name in names]
    return [".".join(part[:length]) for part in parts for length in range(1, len(part) + 1)]


@cache
def imports() -> dict[str, set[str]]:
    """What each module imports of the package, in functions and for type checkers as well, but not what it lies in."""
    found: dict[str, set[str]] = defaultdict(set)
    for module, tree in modules().items():
        wanted = {name for node in ast.walk(tree) for name in named(node)}
        found[module] = {name for name in wanted & set(modules()) if not f"{module}.".startswith(f"{name}.")}
    return found


def test_every_room_has_its_level():
    assert set(map(room, modules())) == set(LEVELS)


def test_nothing_imports_upwards():
    upwards = [
        f"{module} imports {other}"
        for module, others in imports().items()
        for other in others
        if room(module) != room(other) and LEVELS[room(other)] >= LEVELS[room(module)]
    ]
    assert upwards == []


def circles(graph: dict[str, set[str]]) -> list[set[str]]:
    """The strongly connected components of more than one node, after Tarjan."""
    numbers, lowest, stack, found, next_number = {}, {}, [], [], count()

    def visit(node: str) -> None:
        numbers[node] = lowest[node] = next(next_number)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in numbers:
                visit(other)
            if other in stack:
                lowest[node] = min(lowest[node], lowest[other])
        if lowest[node] == numbers[node]:
            start = stack.index(node)
            if len(stack) - start > 1:
                found.append(set(stack[start:]))
            del stack[start:]

    for node in graph:
        if node not in numbers:
            visit(node)
    return found


def test_no_modules_import_each_other_in_a_circle():
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}) == [{"b", "c"}]
    assert circles(imports()) == []


def tracked(*folders: str) -> list[str]:
    done = subprocess.run(["git", "ls-files", *folders], cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.splitlines() if (ROOT / name).is_file()]


def test_only_modalities_know_which_modalities_there_are():
    keys = "|".join(MODALITIES)
    deciding = re.compile(
        rf"""(?<!for )(?<!, )\bmodality\b *(==|!=|(not )?in\b)|(==|!=|\bin) *[\["'( ]*({keys})["']"""
        rf"|\bcase +[\"']({keys})[\"']|\bconfig\.({keys})\b|modalities(\.| import )({keys})\b"
    )
    word = "modality"
    assert deciding.search(f'if run.{word} == "image":')
    assert deciding.search("from clrepro.modalities.image.recipe import ImageRecipe")
    assert not deciding.search(f"for key, {word} in modalities.MODALITIES.items():")
    lines = [
        f"{name}:{number}: {line.strip()}"
        for name in tracked("src/clrepro", "rules", "scripts", "Snakefile")
        if not name.startswith("src/clrepro/modalities/") and name.endswith((".py", ".smk", ".j2", "Snakefile"))
        for number, line in enumerate((ROOT / name).read_text("utf-8").splitlines(), 1)
    ]
    assert [line for line in lines if deciding.search(line.partition(": ")[2].partition("  #")[0])] == []


def test_no_file_is_longer_than_can_be_read_at_once():
    data = re.compile(r"tests/oracles/|\.(lock|yaml|txt)$|src/clrepro/demo/words_")
    files = [name for name in tracked("src", "rules", "scripts", "tests", "Snakefile") if not data.search(name)]
    lengths = {name: len((ROOT / name).read_text("utf-8").splitlines()) for name in files}
    assert {name: length for name, length in lengths.items() if length > LINES} == {}
