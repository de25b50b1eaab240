"""Figures: which runs they need, what is recorded for them, and which are left out."""

import pytest
import torch

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.errors import UserError
from clrepro.report import figures
from tests.catalogue.asking import asking


def test_figures_may_be_left_out_and_sweep_one_parameter_at_a_time(paper_scale):
    assert {f"{figure.paper}/{figure.name}" for figure in paper_scale.figures} == set(paper_scale.figure_names())
    without = asking(figures=[])
    assert not without.figures
    assert set(without.runs) == {run for table in paper_scale.tables for run in table.runs}
    sweep = paper_scale.figure("li2024/figure_6")
    points = {
        name: [point.runs[0].params[name] for point in sweep.points if point.series == name] for name in sweep.varied
    }
    assert points == {
        "margin": [0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0],
        "temperature": [0.01, 0.03, 0.05, 0.1, 0.3, 1.0, 3.0],
        "ratio": [0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 1.75, 2.0],
    }
    # the baseline is a point of all three, trained once with every seed
    assert len(sweep.runs) == 3 * (8 + 7 + 8 - 2)
    assert all(len(point.runs) == 3 and point.backbone == "BERT_base" for point in sweep.points)
    assert not any(run.recipe.held_out for run in sweep.runs)
    margins = [point.runs[0].params["margin"] for point in paper_scale.figure("nie2023/figure_3a").points]
    assert {0.10, 0.23, 0.80} <= set(margins)
    for name, margin in (("figure_3c", 0.10), ("figure_3d", 0.23), ("figure_3e", 0.80)):
        assert [run.params["margin"] for run in paper_scale.figure(f"nie2023/{name}").runs] == [margin] * 3
    off = {point.series: point.runs[0].params["margin"] for point in paper_scale.figure("li2024/figure_5").points}
    assert off == {"baseline": 0.3, "without dissipation": None}
    for name in ("figure_5", "figure_7", "figure_8a", "figure_8b", "figure_8c", "figure_9"):
        assert {run.recipe.held_out for run in paper_scale.figure(f"li2024/{name}").runs} == {0.1}, name
    dynamic = {point.series: point.runs[0] for point in paper_scale.figure("li2024/figure_8b").points}
    assert (dynamic["met"].variant, dynamic["met"].recipe.head) == ("released_li2024", "linear")


def test_a_figure_shares_the_runs_of_the_tables(paper_scale):
    table = {run for part in paper_scale.tables for run in part.runs}
    for name in ("figure_1a", "figure_1b", "figure_3b", "figure_3d"):
        assert set(paper_scale.figure(f"nie2023/{name}").runs) <= table
    bars = paper_scale.figure("li2024/figure_1")
    assert {point.backbone for point in bars.points} == {"BERT_base", "RoBERTa_base"}
    assert {run.backbone.key for run in set(bars.runs) - table} == {"RoBERTa_base"}  # plain losses, in no table
    asked = asking(figures=["nie2023/figure_3d", "li2024"])
    assert [figure.name for figure in asked.figures][:2] == ["figure_3d", "figure_1"]
    assert set(asked.runs) == table | {run for figure in asked.figures for run in figure.runs}
    # a backbone that is left out has no points
    assert {point.backbone for point in asking("bench").figure("li2024/figure_1").points} == {"BERT_base"}


def test_what_a_figure_plots_is_recorded_in_training(paper_scale):
    from clrepro.training.recorder import Recorder

    recorder = Recorder()
    view1, view2 = torch.randn(2, 128, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    recorder.development(0, view1, view2, torch.full((128,), 5.0))
    recorder.batch(0, view1, view2, 0.5)
    recorder.held_out(0, [(view1, view2)])
    recorded = {"statistics": {"stsb_dev", "best_stsb_dev", *(row[1] for row in recorder.rows)}}
    recorded["histograms"] = {part["statistic"] for part in recorder.histograms}
    for name in paper_scale.figure_names():
        for kind, known in recorded.items():
            for pattern in getattr(paper_scale.figure(name), kind):
                assert any(figures.matches(one, [pattern]) for one in known), (name, pattern)


def test_an_unknown_figure_is_refused_with_near_matches():
    with pytest.raises(UserError, match="unknown figure 'li2024/figure_66' in figures. Did you mean li2024/figure_6"):
        asking(figures=["li2024/figure_66"])
    with pytest.raises(UserError, match="unknown figure 'nie2022' in figures. Did you mean nie2023"):
        asking(figures=["nie2022"])


def test_a_part_of_the_papers_asks_for_their_figures_alone():
    whole = configuration.load("demo")
    assert whole.figures == ["nie2023", "li2024", "huang2023", "oar2024"]
    for paper in papers.paper_keys():
        part = Catalogue(whole.model_copy(update={"papers": [paper]}))
        assert {figure.paper for figure in part.figures} == {paper}
    from typer.testing import CliRunner

    from clrepro.cli import app

    done = CliRunner().invoke(app, ["show", "--only", "nie2023/table_2"])
    assert done.exit_code == 0, done.output
    assert "L_cl tau" in done.output


def test_figures_without_training_have_the_papers_counts_but_at_demo_scale():
    thinned = {"points": 100, "batches": 1000}
    for scale in ("bench", "paper"):
        catalogue = Catalogue(configuration.load(scale))
        by_name = {f"{figure.paper}/{figure.name}": figure for figure in catalogue.simulations}
        assert not any(figure.settings["footnote"] for figure in catalogue.simulations)
        for number in (2, 4, 10):
            settings = by_name[f"li2024/figure_{number}"].settings
            assert {key: settings[key] for key in thinned} == thinned
    demo = asking("demo", simulation={"points": 7, "batches": 3})
    figure = next(one for one in demo.simulations if one.target == "li2024_figure_2")
    assert (figure.settings["points"], figure.settings["batches"]) == (7, 3)
    assert figure.settings["footnote"] == "Thinned: 7 grid points an axis instead of 100, 3 batches instead of 1,000."
    assert figure.objectives == ["arccon", "met"]
    assert papers.load("li2024", "experiments")["simulations"]["figure_2"]["settings"]["points"] == 100


def test_every_figure_of_the_papers_is_regenerated_or_says_why_not():
    """None may be forgotten silently."""
    printed = {
        "nie2023": {"1a", "1b", "1c", "1d", "2a", "2b", "3a", "3b", "3c", "3d", "3e", "4"},
        "li2024": {"1", "2", "3", "4", "5", "6", "7", "8a", "8b", "8c", "9", "10", "11", "12"},
        "huang2023": {"1", "2", "3", "4"},
        "oar2024": {"1", "2", "3", "4"},
    }
    for paper, numbers in printed.items():
        experiments = papers.load(paper, "experiments")
        parts = [experiments.get(key, {}) for key in ("figures", "simulations", "not_regenerated")]
        here = {name for part in parts for name in part if name.startswith("figure_")}
        assert here == {f"figure_{number}" for number in numbers}
        assert sum(len(part) for part in parts) == len({name for part in parts for name in part})
