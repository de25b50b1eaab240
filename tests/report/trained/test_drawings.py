"""Every drawing: canvas, units, holes, the same bytes from the same numbers."""

import re

import pandas as pd
import pytest

from clrepro import config as configuration
from clrepro import plotting
from clrepro.catalogue import Catalogue, papers
from clrepro.errors import UserError
from clrepro.ledger import Records
from clrepro.paths import write_json
from clrepro.report import figures, trained
from clrepro.report.trained import notes
from tests.report.trained.made import NOTES, drawn, footnote, made

PLANS = {paper: papers.load(paper, "experiments").get("figures", {}) for paper in papers.paper_keys()}
NAMES = [f"{paper}/{name}" for paper, plan in PLANS.items() for name in plan]


def words(svg):
    return " ".join(re.sub("<[^>]*>", " ", svg.read_text("utf-8")).split())


def test_every_figure_that_needs_training_has_a_drawing(demo):
    assert all(trained.drawing(name) for name in demo.figure_names())
    assert set(trained.DRAWINGS) == {figure["drawing"] for plan in PLANS.values() for figure in plan.values()}


@pytest.mark.parametrize("name", NAMES)
def test_every_drawing_fits_its_canvas_and_says_scale_and_units(demo, name):
    figure, _ = drawn(demo, name)
    figure.draw_without_rendering()
    drawing, canvas = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawing.x0, drawing.y0) >= 0
    assert drawing.x1 <= canvas[0]
    assert drawing.y1 <= canvas[1]
    smallest = min(axis.get_position().height * canvas[1] for axis in figure.axes)
    assert smallest > 1.2  # inches: notes and legends leave the panels their room
    assert "Demo scale." in footnote(figure)
    assert all(axis.get_ylabel() for axis in figure.axes[:1])
    assert any(axis.get_xlabel() for axis in figure.axes) or name == "li2024/figure_1"


def test_a_drawing_that_does_not_exist_is_refused_and_a_figure_needs_none(monkeypatch):
    def refused(**figure):
        monkeypatch.setattr(papers, "load", lambda *_: {"figures": {"figure_1": figure}})
        with pytest.raises(UserError) as refusal:
            trained.drawing("mine2026/figure_1")
        return str(refusal.value)

    place = "papers/mine2026/experiments.yaml, figure_1"
    assert refused(drawing="lossse").startswith(f"unknown drawing 'lossse' in {place}. Did you mean losses")
    said = f"{place}: drawing_settings are mark; drawing 'hardest_shares' takes marked"
    assert refused(drawing="hardest_shares", drawing_settings={"mark": 1}) == said
    monkeypatch.setattr(papers, "load", lambda *_: {"figures": {"figure_1": {"series": {}}}})
    assert trained.draw("mine2026/figure_1", pd.DataFrame({"value": [1.0]}), NOTES) is None


@pytest.mark.parametrize("name", ["nie2023/figure_1a", "li2024/figure_1", "li2024/figure_8a"])
def test_the_same_numbers_give_the_same_bytes(demo, name, tmp_path):
    _, frame = drawn(demo, name)
    for folder in ("one", "two"):
        plotting.save(trained.draw(name, frame, NOTES), tmp_path / folder / "figure")
    for suffix in ("svg", "png"):
        one, two = ((tmp_path / folder / f"figure.{suffix}").read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_drawn_of_nothing(demo, name):
    frame = made(demo.figure(name))
    assert trained.draw(name, frame.iloc[:0], NOTES) is None
    assert trained.draw(name, frame.assign(statistic="another"), NOTES) is None


def test_a_figure_with_holes_is_written_and_names_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo"))
    figure = catalogue.figure("li2024/figure_8c")
    svg, png, csv = catalogue.files.of_figure(figure)
    assert [file.suffix for file in (svg, png, csv)] == [".svg", ".png", ".csv"]
    assert figures.write(catalogue, "li2024/figure_8c") == csv
    assert "nothing recorded to draw" in words(svg)
    first, second, *_ = figure.runs
    for run in (first, second):
        write_json(
            run.record,
            {
                "identity": run.identity,
                "seed": run.seed,
                "history": [],
                "best_step": 20,
                "best_score": 0.5,
                "code": run.code,
            },
        )
    rows = [[step, "heldout_positive_cosine_mean", 0.9 - step / 100] for step in (0, 20)]
    write_json(first.folder / "statistics.json", {"rows": rows, "settings": {"examples": 9, "batch_size": 3}})
    figures.write(catalogue, "li2024/figure_8c")
    assert svg.exists()
    assert png.stat().st_size > 5000
    table = pd.read_csv(csv)
    assert table["value"].tolist() == [0.9, 0.7]
    holes = figures.missing(figure, figures.frame(catalogue, figure, Records()))
    assert holes[0] == "baseline, ratio 0.5, BERT_base, seed 43"
    assert len(holes) == 7
    assert "MISSING: baseline, ratio 0.5, BERT_base, seed 43; " in words(svg)
    figure = catalogue.figure("nie2023/figure_3a")
    about = {"identity": figure.runs[0].identity, "seed": figure.runs[0].seed, "code": "older"}
    write_json(figure.runs[0].record, {**about, "history": [], "best_step": 20, "best_score": 0.5})
    write_json(figure.runs[0].folder / "statistics.json", {"rows": [[20, "train_distance_gap", 0.5]]})
    assert figures.missing(figure, figures.frame(catalogue, figure, Records()))[0].endswith(
        "seed 42: sts/Avg, transfer/Avg"
    )
    assert "nothing recorded to draw" in words(figures.write(catalogue, "nie2023/figure_3a").with_suffix(".svg"))
    rows = [[f"STS{year}", "test", "spearman_all", 0.5] for year in range(12, 17)]
    rows += [[task, "test", "spearman", 0.5] for task in ("STSBenchmark", "SICKRelatedness")]
    write_json(figure.runs[0].folder / "sts.json", {"rows": rows})
    said = words(figures.write(catalogue, "nie2023/figure_3a").with_suffix(".svg"))
    assert "STALE" in said
    assert notes.parameters(catalogue.figure("nie2023/figure_3c")) == "L_mpt: margin 0.1"
    assert "batch 32, learning rate 0.001, 0.25 epoch(s) of demo-corpus; seeds 42, 43." in said
    assert "seed 42: transfer/Avg; L_mpt, margin 0.05, BERT_base, seed 43;" in said
