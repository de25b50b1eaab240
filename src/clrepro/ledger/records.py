"""What runs left on disk, each file read once; what cannot be read is named, skipped and counted."""

import json
from pathlib import Path
from typing import Any

from clrepro.modalities.evaluation import Evaluation
from clrepro.modalities.run import Run
from clrepro.paths import digest


class Records:
    """The json files of runs. A missing file is None; so is a broken one, which `problems` names with its fault."""

    def __init__(self):
        self.problems: dict[Path, str] = {}
        self.cells: dict[tuple[str, ...], Any] = {}  # what clrepro.ledger.scores has made of the files, by address
        self._read: dict[Path, Any] = {}

    def record(self, run: Run) -> dict | None:
        """A run's record, if it is the record of this very run."""
        content = self._file(run.record)
        if content is None:
            return None
        if digest(content.get("identity")) != run.hash8 or content.get("seed") != run.repetition:
            return self._refuse(run.record, "it is the record of another run")
        kinds = {"history": list, "model": dict, "energy_wh": dict, "environment": dict, "hardware": dict}
        for name, kind in kinds.items():
            if not isinstance(content.get(name, kind()), kind) and not (name == "energy_wh" and content[name] is None):
                return self._refuse(run.record, f"its `{name}` is not what a record holds there")
        if not all(isinstance(entry, dict) and "step" in entry for entry in content.get("history", [])):
            return self._refuse(run.record, "its `history` is not a list of evaluations, each with its step")
        numbers = [*content.get("energy_wh", {}).values()] if content.get("energy_wh") else []
        numbers += [value for entry in content.get("history", []) for value in entry.values()]
        numbers += [content[name] for name in NUMBERS if content.get(name) is not None]
        if not all(map(is_number, numbers)):
            return self._refuse(run.record, "it holds something else where a number belongs")
        if not isinstance(content.get("code"), str):
            return self._refuse(run.record, "it does not say which code trained it")
        return content

    def statistics(self, run: Run) -> dict | None:
        """The statistics recorded beside a run: `rows` [step, statistic, value], `histograms`, `settings`."""
        file = run.folder / "statistics.json"
        content = self._file(file)
        if content is None:
            return None
        rows, histograms = content.get("rows"), content.setdefault("histograms", [])
        if not self._is_table(rows, 3) or not all(isinstance(row[1], str) and is_number(row[0]) for row in rows):
            return self._refuse(file, "its `rows` are not lists of step, statistic and value")
        if not isinstance(histograms, list) or not all(map(is_histogram, histograms)):
            return self._refuse(file, "its `histograms` lack step, statistic, low, high or counts")
        if not isinstance(content.setdefault("settings", {}), dict):
            return self._refuse(file, "its `settings` are no mapping")
        return content

    def repetitions(self, run: Run, evaluation: Evaluation) -> dict[int | None, list[list]] | None:
        """A run's rows [task, split, metric, value] of an evaluation: {None: rows}, or by its own seeds."""
        file = run.folder / evaluation.file
        content = self._file(file)
        if content is None:
            return None
        found = {None: content.get("rows")}
        if "seeds" in content:
            seeds = content["seeds"]
            if not isinstance(seeds, dict) or not all(name.isdigit() for name in seeds):
                return self._refuse(file, "its `seeds` are not rows by seed")
            found = {int(name): rows for name, rows in seeds.items()}
        for rows in found.values():
            if not self._is_table(rows, 4) or not all(isinstance(word, str) for row in rows for word in row[:3]):
                return self._refuse(file, "its `rows` are not lists of task, split, metric and value")
        return found

    def rows(self, run: Run, evaluation: Evaluation) -> list[list] | None:
        """The same, of all repetitions."""
        found = self.repetitions(run, evaluation)
        return None if found is None else [row for rows in found.values() for row in rows]

    def arrays(self, run: Run, evaluation: Evaluation) -> dict[str, list] | None:
        """The numbers of a picture of a run's embeddings."""
        file = run.folder / evaluation.file
        content = self._file(file)
        if content is None:
            return None
        found = content.get("arrays")
        if not isinstance(found, dict) or not all(
            isinstance(values, list) and all(map(is_number, values)) for values in found.values()
        ):
            return self._refuse(file, "its `arrays` are not lists of numbers")
        return found

    def note(self, file: Path, fault: str) -> None:
        """Count a file as broken of which a part can be read all the same."""
        self.problems.setdefault(file, fault)

    @staticmethod
    def _is_table(rows: Any, width: int) -> bool:
        return isinstance(rows, list) and all(
            isinstance(row, list) and len(row) == width and is_number(row[-1]) for row in rows
        )

    def _file(self, file: Path) -> dict | None:
        if file not in self._read:
            self._read[file] = None
            try:
                content = json.loads(file.read_text("utf-8"), parse_constant=not_a_number)
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as failure:
                return self._refuse(file, f"it cannot be read: {failure}")
            if not isinstance(content, dict):
                return self._refuse(file, "it does not hold an object")
            self._read[file] = content
        return self._read[file]

    def _refuse(self, file: Path, fault: str) -> None:
        self.problems[file] = fault
        self._read[file] = None


NUMBERS = ("seconds", "steps", "best_step", "best_score")


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def not_a_number(word: str) -> None:
    raise ValueError(f"it holds a value that is not a finite number ({word})")


def is_histogram(part: Any) -> bool:
    """Whether an entry has the fields of Recorder.add_histogram."""
    return (
        isinstance(part, dict)
        and isinstance(part.get("statistic"), str)
        and all(is_number(part.get(name)) for name in ("step", "low", "high"))
        and isinstance(part.get("counts"), list)
        and len(part["counts"]) > 0
        and all(map(is_number, part["counts"]))
    )
