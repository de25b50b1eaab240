"""All simulated figures are drawn from their CSV alone."""

import importlib

import pandas as pd
import pytest

from clrepro import plotting
from clrepro.catalogue.papers import load
from tests.simulation.definitions import definition

PAPERS = ("nie2023", "li2024", "huang2023")
FIGURES = [(paper, figure) for paper in PAPERS for figure in load(paper, "experiments")["simulations"]]


PANELS = {
    ("nie2023", "figure_2a"): 6,
    ("nie2023", "figure_2b"): 4,
    ("nie2023", "figure_4"): 10,
    ("li2024", "figure_3"): 0,
    ("li2024", "figure_4"): 4,
    ("li2024", "figure_12"): 6,
}


@pytest.mark.parametrize(("paper", "figure"), FIGURES)
def test_figures_draw_from_their_csv_alone(paper, figure, tmp_path):
    entry = definition(paper, figure)
    thin = {name: few for name, few in (("points", 6), ("batches", 30)) if name in entry["settings"]}
    settings = {**entry["settings"], **thin, "footnote": "Thinned to a few points."}
    module = importlib.import_module(f"clrepro.simulation.{entry['study']}")
    frame = module.compute(settings)
    pd.testing.assert_frame_equal(frame, module.compute(settings), check_exact=True)
    frame.to_csv(tmp_path / "figure.csv", index=False, float_format="%.7g")
    with plotting.style():
        drawn = module.draw(pd.read_csv(tmp_path / "figure.csv"), settings)
    assert "Thinned to a few points." in drawn.get_supxlabel()
    drawn.savefig(tmp_path / "figure.png", dpi=30)
    assert sum(bool(axis.get_title(loc="left")) for axis in drawn.axes) == PANELS.get((paper, figure), 2)
    assert entry["shows"]
