"""What runs left on disk, each file read once; what cannot be read is named, skipped and counted."""

import json
import math
from pathlib import Path
from typing import Any

from clrepro.catalogue.runs import Run, digest


class Records:
    """The json files of runs. A missing file is None; so is a broken one, which `problems` names with its fault."""

    def __init__(self):
        self.problems: dict[Path, str] = {}
        self._read: dict[Path, Any] = {}

    def record(self, run: Run) -> dict | None:
        """A run's record, if it is the record of this very run."""
        content = self._file(run.record, dict)
        if content is None:
            return None
        seed = run.seed if run.objective else None
        if "identity" not in content or digest(content["identity"]) != run.hash8 or content.get("seed") != seed:
            return self._refuse(run.record, "it is the record of another run")
        history = content.get("history", [])
        if not isinstance(history, list) or not all(isinstance(entry, dict) and "step" in entry for entry in history):
            return self._refuse(run.record, "its `history` is not a list of evaluations, each with its step")
        if not isinstance(content.get("code"), str):
            return self._refuse(run.record, "it does not say which code trained it")
        return content

    def probes(self, run: Run) -> dict | None:
        """The statistics recorded beside a run."""
        content = self._file(run.folder / "probes.json", dict)
        if content is None:
            return None
        rows = content.get("rows")
        if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 3 for row in rows):
            return self._refuse(run.folder / "probes.json", "its `rows` are not lists of step, statistic and value")
        return content

    def rows(self, run: Run, kind: str) -> list[list] | None:
        """The test results [task, split, metric, value] of a run; kind: sts or transfer."""
        file = run.folder / f"{kind}.json"
        content = self._file(file, dict)
        if content is None:
            return None
        rows = content.get("rows")
        if not isinstance(rows, list) or not all(isinstance(row, list) and len(row) == 4 for row in rows):
            return self._refuse(file, "its `rows` are not lists of task, split, metric and value")
        if not all(isinstance(row[3], int | float) and math.isfinite(row[3]) for row in rows):
            return self._refuse(file, "it holds a value that is not a finite number")
        return rows

    def refuse(self, run: Run, kind: str, fault: str) -> None:
        """Count a file as broken, whose fault only its reader could see."""
        self._refuse(run.folder / f"{kind}.json", fault)

    def _file(self, file: Path, wanted: type) -> Any:
        if file not in self._read:
            self._read[file] = None
            try:
                content = json.loads(file.read_text("utf-8"))
            except FileNotFoundError:
                return None
            except (OSError, ValueError) as failure:
                return self._refuse(file, f"it cannot be read: {failure}")
            if not isinstance(content, wanted):
                return self._refuse(file, "it does not hold an object")
            self._read[file] = content
        return self._read[file]

    def _refuse(self, file: Path, fault: str) -> None:
        self.problems[file] = fault
        self._read[file] = None
