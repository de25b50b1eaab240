"""The papers' theory as a table: what holds, what fails, and by which counterexample."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from clrepro.paths import write_text
from clrepro.theory import check_all


def write(studies: Mapping[str, Iterable[str]], csv: str | Path, markdown: str | Path) -> None:
    """Check all statements of the papers' studies, {paper: names}, and write them as csv and as Markdown."""
    frame = check_all(studies)
    write_text(csv, frame.to_csv(index=False, lineterminator="\n"))
    parts = [f"# Theory\n\n{summary(frame)}\n"]
    for paper, rows in frame.groupby("paper", sort=False):
        table = rows.drop(columns="paper").map(lambda text: str(text).replace("|", "\\|"))
        parts.append(f"\n## {paper}\n\n{table.to_markdown(index=False)}\n")
    write_text(markdown, "".join(parts))


def summary(frame: pd.DataFrame) -> str:
    """How many checks have which verdict, in words."""
    counts = frame["verdict"].value_counts()
    return f"{len(frame)} checks: " + ", ".join(f"{number} {verdict}" for verdict, number in counts.items())
