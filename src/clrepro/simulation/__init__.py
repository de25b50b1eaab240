"""The papers' figures that need no trained encoder: closed forms, sampled angles, sketches, a toy network.

A study is a module with two functions:
    compute(settings) -> DataFrame     every number that the figure shows, in long form; it becomes the figure's csv
    draw(frame, settings) -> Figure    from that frame alone
What a paper's figure asks of its study stands in papers/<key>/experiments.yaml under `simulations`.
"""

import importlib
from pathlib import Path
from typing import Any

from clrepro import plotting


def write(study: str, settings: dict[str, Any], stem: Path) -> None:
    """Compute and draw a figure: stem.csv, and from it stem.svg and stem.png."""
    module = importlib.import_module(f"clrepro.simulation.{study}")
    frame = module.compute(settings)
    stem.parent.mkdir(parents=True, exist_ok=True)
    frame.to_csv(stem.with_name(f"{stem.name}.csv"), index=False, lineterminator="\n", float_format="%.7g")
    with plotting.style():
        plotting.save(module.draw(frame, settings), stem)
