"""Mutation testing: put small faults into the modules that decide numbers, one at a time; a test has to notice.

    python tests/mutants/run.py                    # a sample of 330, the same every time
    python tests/mutants/run.py --sample 0         # all of them, thousands
    python tests/mutants/run.py --only ledger      # those of files that begin so; `--only faults`: those of faults.yaml
    python tests/mutants/run.py --again            # those that survived so far, once more
    python tests/mutants/run.py --docs             # write what is known into docs/testing.md, and run nothing

Results are kept in logs/mutants.jsonl as they come; a mutant whose file and tests are as they were is not run again.
The exit code is 1 if one survives that survivors.yaml does not give the reason of, why no number depends on it.
"""

import argparse
import ast
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from tqdm import tqdm

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

from tests.mutants.mutations import Mutant, mutants  # noqa: E402

HERE = ROOT / "tests/mutants"
LOG = ROOT / "logs/mutants.jsonl"
PAGE = ROOT / "docs/testing.md"
SAMPLE = 330
SECONDS = 600  # for the tests of one mutant; where they take longer it hangs, which is noticed as well


def tests_of(file: str) -> list[str]:
    """The tests that a file's mutants have to pass, the quick ones first."""
    plan = listed("tests.yaml")
    every = {**plan["mutated"], **plan["only_faults"]}
    return next(tests for prefix, tests in every.items() if file.startswith(prefix))


@cache
def listed(name: str) -> Any:
    """One of the lists beside this file."""
    return yaml.safe_load((HERE / name).read_text("utf-8"))


def all_mutants() -> dict[str, Mutant]:
    """Every mutant by its name, those of faults.yaml first."""
    found: dict[str, Mutant] = {}
    for fault in listed("faults.yaml"):
        text = (ROOT / fault["file"]).read_text("utf-8")
        if text.count(fault["before"]) != 1:
            sys.exit(f"faults.yaml: {fault['what']}: {fault['file']} has this {text.count(fault['before'])} times")
        start = text.index(fault["before"])
        end = start + len(fault["before"])
        found["faults: " + fault["what"]] = Mutant(fault["file"], "", start, end, fault["before"], fault["after"])
    files: dict[str, None] = {}
    for prefix in listed("tests.yaml")["mutated"]:
        place = ROOT / prefix
        parts = [place] if place.is_file() else sorted(place.rglob("*.py"))
        files |= dict.fromkeys(str(file.relative_to(ROOT)) for file in parts)
    named: Counter = Counter()
    for one in (one for file in files for one in mutants(ROOT, file)):
        named[one.name] += 1
        found[one.name + (f" ({named[one.name]})" if named[one.name] > 1 else "")] = one
    return found


def sampled(names: list[str], count: int) -> list[str]:
    """The same ones every time, whatever else there is: those whose names hash lowest; every fault of the list."""
    faults = [name for name in names if name.startswith("faults")]
    rest = sorted(
        (name for name in names if name not in faults), key=lambda name: hashlib.sha256(name.encode()).digest()
    )
    return faults + (rest[:count] if count else rest)


class Worker:
    """A copy of the repository and the process that runs tests on it."""

    def __init__(self, folder: Path):
        self.tree = folder
        listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(listed, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
        for name in files:
            if (ROOT / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, folder / name)
        command = [sys.executable, str(HERE / "worker.py")]
        pipe = subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def run(self, mutant: Mutant | None, tests: list[str], seconds: float = SECONDS) -> dict:
        """What the tests say of a mutant, or of the code as it is."""
        place = self.tree / mutant.file if mutant else None
        if place:
            place.write_text(mutant.applied((ROOT / mutant.file).read_text("utf-8")), "utf-8")
        try:
            line = json.dumps({"tree": str(self.tree), "tests": tests, "seconds": seconds})
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            return json.loads(self.process.stdout.readline())
        finally:
            if place:
                shutil.copy(ROOT / mutant.file, place)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def key_of(mutant: Mutant, tests: list[str]) -> str:
    """What a result hangs on: the mutated file and the tests' own files."""
    parts = [mutant.applied((ROOT / mutant.file).read_text("utf-8")), *tests]
    for test in tests:
        path = ROOT / test.split("::")[0]
        parts += [one.read_text("utf-8") for one in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


def known() -> dict[str, dict]:
    """The last result of every mutant."""
    lines = LOG.read_text("utf-8").splitlines() if LOG.is_file() else []
    return {entry["name"]: entry for entry in map(json.loads, lines)}


def survived(entry: dict) -> bool:
    return entry["code"] == 0


def reasons() -> dict[str, str]:
    return listed("survivors.yaml") or {}


def examine(chosen: dict[str, Mutant], jobs: int) -> None:
    """Run what has no result yet; several at once."""
    found = known()
    missing = {}
    for name, one in chosen.items():
        key = key_of(one, tests_of(one.file))
        if found.get(name, {}).get("key") != key:
            missing[name] = (one, tests_of(one.file), key)
    LOG.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="clrepro-mutants-") as folder, ThreadPoolExecutor(jobs) as pool:
        free = [Worker(Path(folder) / str(number)) for number in range(jobs)]
        try:
            tests = list(dict.fromkeys(test for _, tests, _ in missing.values() for test in tests))
            if tests and (sound := free[0].run(None, tests, 10 * SECONDS))["code"] != 0:
                sys.exit(f"without any fault, a test fails already: {sound['test']}")

            def one(item: tuple) -> dict:
                name, (mutant, tests, key) = item
                worker = free.pop()
                try:
                    return {"name": name, "key": key, **worker.run(mutant, tests)}
                finally:
                    free.append(worker)

            with open(LOG, "a", encoding="utf-8") as log:
                for entry in tqdm(pool.map(one, missing.items()), total=len(missing), unit="mutant"):
                    log.write(json.dumps(entry) + "\n")
                    log.flush()
                    if survived(entry) and entry["name"] not in reasons():
                        tqdm.write(f"survived: {entry['name']}")
        finally:
            for worker in free:
                worker.close()


def table(names: list[str]) -> str:
    """Markdown: how many were noticed, by file, and the survivors with their reasons."""
    found, why = known(), reasons()
    files: dict[str, Counter] = defaultdict(Counter)
    for name in names:
        if name in found:
            place = (
                "the list of faults" if name.startswith("faults") else name.split(":")[0].removeprefix("src/clrepro/")
            )
            files[place]["mutants"] += 1
            files[place]["survived"] += survived(found[name])
    lines = ["| file | mutants | noticed | survived |", "|---|---:|---:|---:|"]
    total: Counter = sum(files.values(), Counter())
    for place, counts in [*sorted(files.items()), ("**all**", total)]:
        noticed = counts["mutants"] - counts["survived"]
        lines.append(f"| {place} | {counts['mutants']} | {noticed} | {counts['survived']} |")
    left = [name for name in names if name in found and survived(found[name])]
    lines += ["", *(f"- {name}. *{why.get(name, 'no reason is known')}*" for name in sorted(left))]
    return "\n".join(lines)


def files() -> str:
    """Markdown: what each file of tests is for, in the first sentence of its docstring."""
    lines = ["| file | what it is for |", "|---|---|"]
    for file in sorted((ROOT / "tests").rglob("*.py")):
        said = ast.get_docstring(ast.parse(file.read_text("utf-8")))
        if file.name.startswith(("test_", "check_", "spoil_", "long_")) and said:
            first = " ".join(said.split("\n\n")[0].split())
            lines.append(f"| `{file.relative_to(ROOT / 'tests')}` | {first} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, default=SAMPLE, help="how many, beside those of faults.yaml; 0: all")
    parser.add_argument("--only", default="", help="those of files below src/clrepro that begin so, or `faults`")
    parser.add_argument("--again", action="store_true", help="those that survived so far")
    parser.add_argument("--docs", action="store_true", help="write the tables of docs/testing.md and run nothing")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many at once")
    asked = parser.parse_args()
    every = all_mutants()
    names = sampled(list(every), asked.sample)
    if asked.docs:
        for mark, block in (("mutants", table(names)), ("files", files())):
            text = PAGE.read_text("utf-8")
            start, end = text.index(f"<!--{mark}-->") + len(f"<!--{mark}-->"), text.index(f"<!--/{mark}-->")
            PAGE.write_text(f"{text[:start]}\n{block}\n{text[end:]}", "utf-8")
        return
    chosen = [name for name in names if name.removeprefix("src/clrepro/").startswith(asked.only)]
    if asked.again:
        found = known()
        chosen = [name for name in chosen if name in found and survived(found[name]) and name not in reasons()]
    examine({name: every[name] for name in chosen}, asked.jobs)
    found = known()
    left = [name for name in chosen if survived(found[name]) and name not in reasons()]
    print(
        f"{len(chosen)} mutants, {sum(survived(found[name]) for name in chosen)} survived, {len(left)} without a reason"
    )
    for name in left:
        print(f"  {name}")
    sys.exit(bool(left))


if __name__ == "__main__":
    main()
