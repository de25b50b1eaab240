"""Drawings of figures that need training: what is plotted, against numbers made independently; holes; same bytes."""

import re
from itertools import product

import numpy as np
import pandas as pd
import pytest

from clrepro import config as configuration
from clrepro import plotting
from clrepro.catalogue import Catalogue
from clrepro.catalogue.figures import PICTURES
from clrepro.ledger import Records
from clrepro.paths import write_json
from clrepro.report import figures, trained
from clrepro.report.trained import bars, lines, notes, scatter
from clrepro.report.trained.notes import Notes

SEEDS = (42, 43)
STEPS = (0, 20, 40, 60)
RNG = np.random.default_rng(0)
NOTES = Notes(remarks=("Demo scale.",), measured={"examples": 256, "batch_size": 128, "development_batch_size": 38})
TEMPERATURES, LAMBDAS = (0.001, 0.01, 0.05, 0.3, 3.0), (0.1, 1.0)


@pytest.fixture(scope="module")
def demo():
    return Catalogue(configuration.load("demo"))


def names_of(figure):
    """What a run of a figure records, patterns written out."""
    wide = {
        "heldout_positive_cosine_*": ["heldout_positive_cosine_mean"],
        "heldout_negative_cosine_*": ["heldout_negative_cosine_mean"],
        "heldout_hardest_share@*": [f"heldout_hardest_share@{value:g}" for value in TEMPERATURES],
        "heldout_hardest_weight@*": [f"heldout_hardest_weight@{value:g}" for value in TEMPERATURES],
        "heldout_ratio_kept@*": [f"heldout_ratio_kept@{value:g}" for value in LAMBDAS],
        "heldout_ratio_met@*": [f"heldout_ratio_met@{value:g}@1.5" for value in LAMBDAS],
    }
    shapes = ("mean", "std", "skewness", "excess_kurtosis", "normal_distance")
    for side in ("positive", "negative"):
        wide[f"heldout_{side}_angle_*"] = [f"heldout_{side}_angle_{shape}" for shape in shapes]
    return [name for pattern in figure.statistics for name in wide.get(pattern, [pattern])]


def embedded(seed):
    """What pictures show of 40 embeddings of ten classes with 8 singular values."""
    yield "singular_value", np.sort(RNG.uniform(1, 20, 8))[::-1]
    yield "affinity", RNG.uniform(0, 1, 25)
    yield "x", RNG.normal(size=40)
    yield "y", RNG.normal(size=40) + seed
    yield "class", np.arange(40) % 10


def made(figure, seeds=SEEDS):
    """A frame with a number for everything that the figure plots, as if its runs had been trained."""
    rows = []
    for point in figure.points:
        run = point.runs[0]
        settings = {**run.recipe.model_dump(), **run.params}
        place = [point.series, point.backbone, *(settings.get(name) for name in figure.varied)]
        for seed in seeds if run.objective else [None]:
            for step, name in product(STEPS if run.objective else STEPS[:1], names_of(figure)):
                rows.append([*place, seed, step, name, None, RNG.uniform(0.2, 0.9)])
            rows += [[*place, seed, 40, name, None, RNG.uniform(40, 80)] for name in figure.scores]
            for histogram in figure.histograms:
                for full in [f"{histogram[:-1]}{lam:g}" for lam in LAMBDAS] if "*" in histogram else [histogram]:
                    low, high = (0, 4) if "ratio" in full else (-1, 1)
                    shares = RNG.dirichlet(np.ones(50))
                    middles = low + (np.arange(50) + 0.5) * (high - low) / 50
                    rows += [[*place, seed, 60, full, *pair] for pair in zip(middles.round(6), shares, strict=True)]
            for name, values in embedded(seed) if figure.pictures else ():
                kept = any(name in PICTURES[kind] for kind in figure.pictures)
                rows += [[*place, seed, 60, name, number, value] for number, value in enumerate(values) if kept]
    columns = ["series", "backbone", *figure.varied, "seed", "step", "statistic", "bin", "value"]
    return pd.DataFrame(rows, columns=columns).assign(note="").astype({"seed": "Int64"})


def drawn(demo, name, frame=None, notes=NOTES):
    frame = made(demo.figure(name)) if frame is None else frame
    return trained.draw(name, frame, notes), frame


def labelled(axis, label):
    (line,) = [line for line in axis.lines if line.get_label() == label]
    return np.asarray(line.get_xdata(), float), np.asarray(line.get_ydata(), float)


def footnote(figure):
    return figure.get_supxlabel().replace("\n", " ")


def words(svg):
    return " ".join(re.sub("<[^>]*>", " ", svg.read_text("utf-8")).split())


def mean(frame, **places):
    for column, value in places.items():
        frame = frame[frame[column] == value]
    return frame["value"].mean()


def test_every_figure_that_needs_training_has_a_drawing(demo):
    assert set(trained.DRAWINGS) == set(demo.figure_names())


@pytest.mark.parametrize("name", trained.DRAWINGS)
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


@pytest.mark.parametrize("name", ["nie2023/figure_1a", "li2024/figure_1", "li2024/figure_8a"])
def test_the_same_numbers_give_the_same_bytes(demo, name, tmp_path):
    _, frame = drawn(demo, name)
    for folder in ("one", "two"):
        plotting.save(trained.draw(name, frame, NOTES), tmp_path / folder / "figure")
    for suffix in ("svg", "png"):
        one, two = ((tmp_path / folder / f"figure.{suffix}").read_bytes() for folder in ("one", "two"))
        assert one == two


@pytest.mark.parametrize("name", trained.DRAWINGS)
def test_nothing_is_drawn_of_nothing(demo, name):
    frame = made(demo.figure(name))
    assert trained.draw(name, frame.iloc[:0], NOTES) is None
    assert trained.draw(name, frame.assign(statistic="another"), NOTES) is None


def test_losses_are_means_over_seeds_where_all_seeds_have_a_value(demo):
    frame = made(demo.figure("nie2023/figure_1b"))
    lost = (frame["statistic"] == "dev_alignment") & (frame["seed"] == 43) & (frame["step"] == 20)
    figure, _ = drawn(demo, "nie2023/figure_1b", frame[~lost])
    middle = figure.axes[1]
    steps, values = labelled(middle, "STS-B dev")
    assert steps.tolist() == [0, 40, 60]
    assert values == pytest.approx([mean(frame, statistic="dev_alignment", step=step) for step in steps])
    steps, values = labelled(middle, "STS-B dev, as released")
    assert values == pytest.approx([mean(frame, statistic="dev_alignment_released", step=step) for step in STEPS])
    assert len(middle.lines) == 3 * (1 + len(SEEDS))
    assert "dotted L_align over pairs of exactly 5" in footnote(figure)
    assert "in batches of 38" in footnote(figure)
    single, _ = drawn(demo, "nie2023/figure_1b", frame[frame["seed"] == 42])
    assert [len(axis.lines) for axis in single.axes] == [2, 3, 2]
    assert "single seeds" not in footnote(single)


def test_the_loss_that_section_4_1_speaks_of_is_said(demo):
    figure, frame = drawn(demo, "nie2023/figure_1d")
    first, last = (mean(frame, statistic="train_loss", step=step) for step in (STEPS[0], STEPS[-1]))
    assert f"on training batches: {first:.2f} first, {last:.2f} last." in footnote(figure)
    assert "optimised loss itself" not in footnote(drawn(demo, "nie2023/figure_1c")[0])


def test_points_of_alignment_and_uniformity_are_those_of_the_selected_checkpoint(demo):
    figure, frame = drawn(demo, "nie2023/figure_1a")
    for axis, statistic in zip(figure.axes, scatter.DEFINITIONS, strict=False):
        points = [tuple(dots.get_offsets()[0]) for dots in axis.collections if dots.get_gid() == "selected"]
        at = frame[frame["step"] == 40]
        expected = [
            (mean(run, statistic="dev_uniformity"), mean(run, statistic=statistic))
            for _, run in at.groupby(["series", "seed"], sort=False)
        ]
        np.testing.assert_allclose(sorted(points), sorted(expected))
        clouds = [dots for dots in axis.collections if dots.get_gid() != "selected"]
        scores = frame[(frame["statistic"] == "stsb_dev") & (frame["step"] > 0)]["value"] * 100
        assert sorted(np.concatenate([dots.get_array() for dots in clouds])) == pytest.approx(sorted(scores))
    assert "steps away" not in footnote(figure)
    average = mean(frame, statistic="sts/Avg", series="L_dcl")
    assert f"L_dcl {average:.1f}" in footnote(figure)
    between = frame.assign(step=frame["step"].where(frame["statistic"] != "sts/Avg", 45))
    figure, _ = drawn(demo, "nie2023/figure_1a", between)
    assert "at most 5 steps away" in footnote(figure)


def test_the_image_is_cut_in_thirds_whose_mean_scores_are_said(demo):
    frame = made(demo.figure("nie2023/figure_1a"), seeds=SEEDS[:1])
    way = {20: (-1.0, 0.1, 0.30), 40: (-2.0, 0.2, 0.50), 60: (-3.0, 0.3, 0.40)}  # bottom right to top left
    for step, values in way.items():
        for name, value in zip(("dev_uniformity", "dev_alignment", "stsb_dev"), values, strict=True):
            frame.loc[(frame["step"] == step) & (frame["statistic"] == name), "value"] = value
    figure, _ = drawn(demo, "nie2023/figure_1a", frame)
    assert "L_align as written: bottom right 30.0, middle 50.0, top left 40.0." in footnote(figure)
    dotted = [line for line in figure.axes[0].lines if line.get_linestyle() == ":"]
    # places run from -0.5 + ... : between (-1, 0.1) and (-3, 0.3) the cuts cross x = -2 at y = 0.2 -+ 0.0667
    crossing = sorted(np.interp(-2.0, *line.get_data()) for line in dotted)
    assert crossing == pytest.approx([0.2 - 0.2 / 3, 0.2 + 0.2 / 3])


def test_scores_stand_at_their_last_gap_and_carry_their_margin(demo):
    figure, frame = drawn(demo, "nie2023/figure_3a")
    margins = sorted(frame["margin"].unique())
    gaps = frame[(frame["statistic"] == "train_distance_gap") & (frame["step"] == 60)]
    for label, score in (("STS (Spearman × 100)", "sts/Avg"), ("transfer (accuracy, %)", "transfer/Avg")):
        x, y = labelled(figure.axes[0], label)
        assert x == pytest.approx([mean(gaps, margin=margin) for margin in margins])
        assert y == pytest.approx([mean(frame, margin=margin, statistic=score) for margin in margins])
    texts = {text.get_text() for text in figure.axes[0].texts}
    assert {f"{margin:g}" for margin in margins} <= texts


def test_curves_are_named_at_their_ends(demo):
    figure, frame = drawn(demo, "nie2023/figure_3b")
    (axis,) = figure.axes
    named = {text.get_text(): text.xy for text in axis.texts}
    gaps = frame[frame["statistic"] == "train_distance_gap"]
    assert list(named) == ["L_cl", "L_a&u", "L_dcl", "L_dcl+", "L_mpt", "L_met", "L_mat"]
    for series, (step, value) in named.items():
        assert (step, value) == pytest.approx((60, mean(gaps, series=series, step=60)))
    assert len({line.get_marker() for line in axis.lines if line.get_marker() != "None"}) == 7


def test_bars_stand_beside_published_heights_and_name_what_is_missing(demo):
    frame = made(demo.figure("li2024/figure_1"))
    figure, _ = drawn(demo, "li2024/figure_1", frame[(frame["series"] != "mV") | (frame["backbone"] != "BERT_base")])
    axis = figure.axes[0]
    scores = frame[(frame["statistic"] == "sts/Avg") & (frame["backbone"] == "BERT_base")]
    expected = [mean(scores, series=f"{prefix}{name}") for name in bars.PLAIN for prefix in ("", "m")][:-1]
    assert [bar.get_height() for bar in axis.patches] == pytest.approx(expected)
    assert [text.get_text() for text in axis.texts].count("missing") == 1
    # printed in version 1's table 3, and of the plain ones in version 2's table 5
    assert bars.published_heights("BERT_base") == {
        "mMHE": 78.40, "MHE": 62.62, "mMHS": 78.27, "MHS": 72.73, "mB": 78.34, "B": 65.60, "mV": 78.24, "V": 65.53,
    }  # fmt: skip
    diamonds = [line.get_ydata()[0] for line in axis.lines if line.get_marker() == "D"]
    assert sorted(diamonds) == sorted(bars.published_heights("BERT_base").values())
    assert any("does not compare" in text.get_text() for text in figure.legends[0].get_texts())


def test_sweeps_show_the_selected_and_the_last_score(demo):
    figure, frame = drawn(demo, "li2024/figure_6")
    assert [axis.get_xscale() for axis in figure.axes] == ["linear", "log", "linear"]
    part = frame[frame["series"] == "temperature"]
    taus, values = labelled(figure.axes[1], "last evaluation")
    assert taus.tolist() == sorted(part["temperature"].unique())
    last = part[part["step"] == 60]
    assert values == pytest.approx([100 * mean(last, statistic="stsb_dev", temperature=tau) for tau in taus])


def test_shares_over_temperatures_before_and_after(demo):
    figure, frame = drawn(demo, "li2024/figure_7")
    for axis, kind in zip(figure.axes, ("weight", "share"), strict=True):
        for label, series, step in (("before training", "untrained", 0), ("after training (baseline)", "baseline", 60)):
            taus, values = labelled(axis, label)
            part = frame[(frame["series"] == series) & (frame["step"] == step)]
            assert taus.tolist() == list(TEMPERATURES)
            assert values == pytest.approx([mean(part, statistic=f"heldout_hardest_{kind}@{tau:g}") for tau in taus])
        assert f"{mean(frame, series='untrained', statistic=f'heldout_hardest_{kind}@0.05'):.2f}" in footnote(figure)


def test_densities_have_area_one_and_end_in_all(demo):
    figure, frame = drawn(demo, "li2024/figure_5")
    x, y = labelled(figure.axes[1], "without dissipation")
    histogram = frame[(frame["statistic"] == "heldout_positive_cosine") & (frame["series"] == "without dissipation")]
    assert y == pytest.approx([mean(histogram, bin=middle) / 0.04 for middle in x])
    assert y.sum() * 0.04 == pytest.approx(1)
    frame = made(demo.figure("li2024/figure_8a"))
    few = (frame["statistic"] == "heldout_ratio_kept@1") & (frame["series"] == "baseline")
    frame.loc[few, "value"] = 0.015
    figure, _ = drawn(demo, "li2024/figure_8a", frame)
    above, below = figure.axes[1], figure.axes[3]  # after training
    r, share = labelled(below, "λ = 1: 1.5 % kept")
    assert "λ = 1: 1.5 % kept" not in {line.get_label() for line in above.lines}
    part = frame[(frame["statistic"] == "heldout_ratio_lower@1") & (frame["series"] == "baseline")]
    assert share[13] == pytest.approx(part[part["bin"] < r[13]]["value"].sum() / len(SEEDS))
    assert (r[13], share[-1]) == pytest.approx((13 * 0.08, 1))


def test_ratios_have_a_line_at_one_and_the_smallest_in_words(demo):
    figure, frame = drawn(demo, "li2024/figure_8b")
    (axis,) = figure.axes
    assert any(list(line.get_ydata()) == [1, 1] for line in axis.lines)
    own = frame[(frame["series"] == "met") & (frame["statistic"] == "heldout_met_ratio")]
    assert f"MET {own['value'].min():.2f}" in footnote(figure)
    _, values = labelled(axis, "MET")
    assert values == pytest.approx([mean(own, step=step) for step in STEPS])


def test_the_verdict_on_angles_is_that_of_the_last_step(demo):
    frame = made(demo.figure("li2024/figure_9"))
    for end, value in (("std", 0.2), ("normal_distance", 0.01), ("skewness", -0.5), ("excess_kurtosis", 1.25)):
        rows = (frame["statistic"] == f"heldout_negative_angle_{end}") & (frame["step"] == 60)
        frame.loc[rows, "value"] = value
    figure, _ = drawn(demo, "li2024/figure_9", frame)
    said = "σ_neg = 0.200 (assumed 0.10), close to normal (D = 0.010, skewness -0.50, excess kurtosis 1.25)."
    assert footnote(figure).count(said) == 2  # of both series
    assert [axis.get_ylabel() for axis in figure.axes] == ["μ (rad)", "σ (rad)", "D (0 to 1)"]
    older = frame[~frame["statistic"].str.contains("skewness|kurtosis|normal_distance")]
    figure, _ = drawn(demo, "li2024/figure_9", older)
    assert "not recorded" in {text.get_text() for text in figure.axes[2].texts}
    assert "σ_neg = 0.200 (assumed 0.10)." in footnote(figure)


def test_losses_as_sums_and_as_means_stand_in_rows_of_their_own(demo):
    figure, frame = drawn(demo, "oar2024/figure_2")
    sums, means = figure.axes[0], figure.axes[3]
    assert [axis.get_title(loc="left").split(" over")[0] for axis in (sums, means)] == [
        "losses and anchors as sums", "the same as means"
    ]  # fmt: skip
    series = set(frame["series"])
    assert {line.get_label() for line in sums.lines if not line.get_label().startswith("_")} == {
        name for name in series if "[mean]" not in name
    }
    assert {line.get_label() for line in means.lines if not line.get_label().startswith("_")} == {
        "InfoNCE", "OAR-InfoNCE", "BT", "OAR-BT"
    }  # fmt: skip
    for axis, name in ((sums, "InfoNCE"), (means, "InfoNCE [mean]")):
        expected = [
            mean(frame, series=name, statistic="finetune_10/top1", learning_rate=rate) for rate in (1e-4, 0.01, 1)
        ]
        assert labelled(axis, "InfoNCE")[1] == pytest.approx(expected)
    assert sums.get_ylim() == means.get_ylim()


def test_points_stand_at_their_places_in_the_colour_of_their_class_and_the_method_is_named(demo):
    figure, frame = drawn(demo, "huang2023/figure_4")
    panels = [axis for axis in figure.axes if axis.collections]
    assert len(panels) == len(SEEDS) * 2  # of the two losses on small images: no ImageNet in the demo
    colours = []
    for axis, (seed, series) in zip(panels, product(SEEDS, dict.fromkeys(frame["series"])), strict=True):
        own = frame[(frame["seed"] == seed) & (frame["series"] == series)]
        expected = [own[own["statistic"] == name]["value"].tolist() for name in ("x", "y")]
        assert np.array_equal(axis.collections[0].get_offsets().T, expected)
        colours.append(axis.collections[0].get_facecolors())
        linear, centre = (mean(own, statistic=name) for name in ("linear/top1", "places/central_separability"))
        assert axis.get_title(loc="left") == f"{series.split(',')[0]}: linear {linear:.1f} %, centre {centre:.1f} %"
    assert all(np.array_equal(part, colours[0]) for part in colours)  # a class has one colour in all panels
    assert len(np.unique(colours[0], axis=0)) == 10
    assert footnote(figure).startswith("UMAP of the unit rows of 40 test images, 15 neighbours")


def test_singular_values_are_shares_of_the_largest_and_affinities_those_of_one_seed(demo):
    _, frame = drawn(demo, "oar2024/figure_3")
    lost = (frame["series"] == "InfoNCE") & (frame["learning_rate"] == 1)
    figure, _ = drawn(
        demo, "oar2024/figure_3", frame[~(lost & frame["statistic"].isin(["singular_value", "affinity"]))]
    )
    values, affinity, _, lower, empty, _ = figure.axes[:6]
    own = frame[(frame["series"] == "InfoNCE") & (frame["learning_rate"] == 0.01)]
    parts = [own[(own["statistic"] == "singular_value") & (own["seed"] == seed)]["value"] for seed in SEEDS]
    expected = np.mean([part.to_numpy() / part.max() for part in parts], axis=0)
    (line,) = [line for line in values.lines if str(line.get_label()).startswith("InfoNCE: r = ")]
    assert np.asarray(line.get_ydata(), float) == pytest.approx(expected)
    assert line.get_label() == "InfoNCE: r = {:.3g} ({:.3g})".format(
        *(mean(own, statistic=f"collapse/rank_of_{name}_raw") for name in ("squares", "values"))
    )
    square = own[(own["statistic"] == "affinity") & (own["seed"] == SEEDS[0])]["value"].to_numpy().reshape(5, 5)
    assert np.array_equal(affinity.images[0].get_array(), square)
    assert "InfoNCE: none, diverged" in [text.get_text() for text in lower.get_legend().get_texts()]
    assert [text.get_text() for text in empty.texts] == ["no embeddings: the training diverged"]


def test_gains_stand_above_the_bars_of_a_batch_size_and_published_heights_at_paper_scale_only(demo):
    figure, frame = drawn(demo, "huang2023/figure_3")
    (axis,) = figure.axes
    assert [label.get_text() for label in axis.get_xticklabels()] == ["8", "16", "32", "64", "128"]
    heights = [[mean(frame, series=f"{name}, small images", batch_size=size, statistic="linear/top1")
                for name in ("SimCLR", "MACL")] for size in (8, 16, 32, 64, 128)]  # fmt: skip
    assert [bar.get_height() for bar in axis.patches] == pytest.approx([height for pair in heights for height in pair])
    assert [text.get_text() for text in axis.texts] == [f"{macl - simclr:+.1f}" for simclr, macl in heights]

    def diamonds(notes):
        return {tuple(line.get_data()[1]) for line in trained.draw("huang2023/figure_3", frame, notes).axes[0].lines
                if line.get_marker() == "D"}  # fmt: skip

    assert diamonds(NOTES) == set()
    assert len(diamonds(Notes(True, ("Demo scale.",)))) == 4  # of batches 64 and 128, which the paper has as well
    assert bars.published_accuracies("ImageNet_ResNet-50")["MACL", 1024] == 66.5


def test_labels_move_apart_and_no_further_than_needed():
    rng = np.random.default_rng(2)
    for places in (rng.uniform(size=7), np.zeros(5), np.linspace(0, 1, 4)):
        moved = lines.spread(places, 0.1, 0.0, 1.0)
        assert np.diff(np.sort(moved)).min() >= 0.1 - 1e-12
        assert (np.argsort(moved, kind="stable") == np.argsort(places, kind="stable")).all()
        assert moved.min() >= 0
        assert moved.max() <= 1 + 1e-12
    assert lines.spread([0.2, 0.9, 0.5], 0.1, 0, 1).tolist() == pytest.approx([0.2, 0.9, 0.5])
    assert lines.spread([0.5, 0.5], 0.1, 0, 1).tolist() == pytest.approx([0.45, 0.55])


def test_a_figure_with_holes_is_written_and_names_them(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = Catalogue(configuration.load("demo"))
    figure = catalogue.figure("li2024/figure_8c")
    svg, png, csv = catalogue.figure_files(figure)
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
