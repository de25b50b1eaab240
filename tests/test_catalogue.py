"""The catalogue: papers and configuration to runs and cells."""

import math
from dataclasses import replace

import pandas as pd
import pytest
import torch

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, cost, papers
from clrepro.catalogue.runs import Recipe, digest, readable, split_settings
from clrepro.catalogue.tables import row_order
from clrepro.errors import UserError
from clrepro.ledger import Records
from clrepro.paths import write_json
from clrepro.report import figures
from clrepro.workflow import fingerprint

OURS = {"tau": "temperature", "m": "margin", "m_over_pi": "margin", "lambda": "lam"}


@pytest.fixture(scope="module")
def paper_scale():
    return Catalogue(configuration.load("paper"))


@pytest.fixture(scope="module")
def cells(paper_scale):
    """{(paper, table, row, column): cell}; of a cell with several metrics, the last."""
    return {(cell.paper, cell.table, cell.row, cell.column): cell for t in paper_scale.tables for cell in t.cells}


def asking(scale="paper", **changes):
    raw = configuration.read(configuration.ROOT / ("config.yaml" if scale == "demo" else f"config/{scale}.yaml"))
    return Catalogue(configuration.parse(configuration.merge(raw, changes)))


def test_paper_scale_trains_what_table_2_of_nie2023_prints():
    printed = papers.load("nie2023", "published")["hyperparameters"]["per_objective"]
    for row, backbones in printed.items():
        owner, definition = papers.run_definition(row, "nie2023")
        for backbone, values in backbones.items():
            ours = papers.settings(definition, owner, backbone)
            factor = {"m_over_pi": math.pi}
            expected = {OURS.get(key, key): value * factor.get(key, 1) for key, value in values.items()}
            assert {key: ours[key] for key in expected} == pytest.approx(expected), (row, backbone)


def test_runs_that_several_tables_need_exist_once(paper_scale, cells):
    # nie2023: 7 objectives x 4 backbones and 2 poolings x 4 backbones, untrained (at paper scale the encoder pooled as
    # trained is the [CLS] one); li2024: info, arc and the modified four on 2 backbones, the plain four and 7 steps on
    # BERT_base; huang2023: MACL and InfoNCE with both dropouts on 2 backbones, but InfoNCE on BERT_base is li2024's
    tabled = {run for table in paper_scale.tables for run in table.runs if run.modality == "sentence"}
    assert len(tabled) == 3 * (7 * 4 + 6 * 2 + 4 + 7 + 4 * 2 - 1) + 8
    # figures beyond: nie2023's 3a has 8 more margins; li2024's 1 the plain four on RoBERTa_base, 6 has 21 points, and
    # with a part held out there are the baseline, without dissipation, arc, met, three more ratios, and untrained
    sentences = [run for run in paper_scale.runs if run.modality == "sentence"]
    assert len(set(sentences) - tabled) == 3 * (8 + 4 + 21 + 2 + 2 + 3) + 1
    # images: 5 losses x 5 batch sizes; 8 losses, and 3 as means, x 8 learning rates; 8 losses at one rate on CIFAR-100.
    # ImageNet is no part of it without a mirror
    assert len(paper_scale.runs) - len(sentences) == 3 * (5 * 5 + (8 + 3) * 8 + 8)
    assert len({run.folder for run in paper_scale.runs}) == len(paper_scale.runs)
    quoted = cells["li2024", "table_3", "BERT_base mpt", "Avg"]
    assert quoted.runs == cells["nie2023", "table_1", "L_mpt", "BERT_base"].runs
    assert cells["li2024", "table_3", "BERT_base info", "Avg"].runs[0].recipe.precision == "fp16"
    for row, last in (("MHE", "mMHE"), ("MHS", "mMHS"), ("B", "mB"), ("V", "mV")):
        modified = cells["li2024", "table_3", f"BERT_base {last}", "Avg"].runs
        assert cells["li2024", "table_5", row, "+R"].runs == modified
        assert cells["li2024", "table_3_v1", last, "BERT_base"].runs == modified


def test_every_published_cell_has_its_place_and_holes_say_why(paper_scale):
    assert len(paper_scale.tables) == 29
    for table in paper_scale.tables:
        published = papers.published_tables(table.paper)[table.name]
        here = {(cell.row, cell.column) for cell in table.cells}
        assert {(row["id"], column) for row in published["rows"] for column in row["values"]} <= here
        assert table.is_printed or all(bool(cell.runs) + bool(cell.hole) == 1 for cell in table.cells)
    holes = {(t.paper, t.name, cell.row, cell.column): cell.hole for t in paper_scale.tables for cell in t.cells}
    not_run = {
        (paper, name) for paper in papers.paper_keys() for name in papers.load(paper, "experiments").get("not_run", {})
    }
    imagenet = {place for place, why in holes.items() if why.startswith("image set imagenet-1k has no url")}
    tables = {f"table_{name}" for name in ("1", "2", "6", "7", "8", "B1", "B2")}
    assert {place[:2] for place in imagenet} == {("huang2023", name) for name in tables}
    (hole,) = {place for place, why in holes.items() if why and place[:2] not in not_run} - imagenet
    assert hole == ("li2024", "table_5", "MHS", "+W")
    assert "the paper has no such number" in holes[hole]


# facts of the released scripts: objective, parameters, learning rate, batch
BASE, LARGER = (1e-5, 128), (1e-5, 512)
SCRIPTS = {
    "BERT_base": {
        "MHE": ("mhe", {"lam": 10.0}, BASE),
        "MHS": ("mhs", {"lam": 1.0}, (5e-6, 128)),
        "B": ("barlow_twins", {"lam": 30.0}, BASE),
        "V": ("vicreg", {"lam": 30.0}, BASE),
        "mMHE": ("modified_mhe", {"margin": 0.3, "temperature": 0.05, "ratio": 1.75, "lam": 1.0}, BASE),
        "mMHS": ("modified_mhs", {"margin": 0.3, "ratio": 1.75, "lam": 1.0}, BASE),
        "mB": ("modified_barlow_twins", {"margin": 0.3, "temperature": 0.05, "ratio": 1.5, "lam": 1.0}, BASE),
        "mV": ("modified_vicreg", {"margin": 0.3, "temperature": 0.05, "ratio": 1.5, "lam": 1.0}, BASE),
        "arc": ("arccon", {"temperature": 0.05, "angle": math.radians(10)}, BASE),
        "baseline": ("paradigm", {"margin": 0.3, "temperature": 0.05, "ratio": 1.0}, BASE),
    },
    "RoBERTa_base": {
        "MHE": ("mhe", {"lam": 10.0}, (1e-6, 512)),
        "MHS": ("mhs", {"lam": 1.0}, (1e-6, 512)),
        "B": ("barlow_twins", {"lam": 30.0}, (1e-6, 512)),
        "V": ("vicreg", {"lam": 30.0}, (1e-6, 512)),
        "mMHE": ("modified_mhe", {"margin": 0.3, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "mMHS": ("modified_mhs", {"margin": 0.27, "ratio": 1.0, "lam": 1.0}, LARGER),
        "mB": ("modified_barlow_twins", {"margin": 0.37, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "mV": ("modified_vicreg", {"margin": 0.37, "temperature": 0.05, "ratio": 1.25, "lam": 1.0}, LARGER),
        "arc": ("arccon", {"temperature": 0.05, "angle": math.radians(10)}, LARGER),
    },
}


def test_the_values_of_li2024s_scripts_reach_the_runs(paper_scale):
    for backbone, head, every in (("BERT_base", "linear", 125), ("RoBERTa_base", "tanh_linear", 50)):
        for name, (objective, params, (learning_rate, batch_size)) in SCRIPTS[backbone].items():
            owner, definition = papers.run_definition(name, "li2024")
            run = paper_scale.define_runs(definition, owner, backbone, name)[0]
            assert (run.objective, run.variant) == (objective, "released")
            assert {key: value for key, value in run.params.items() if value is not None} == params, (backbone, name)
            assert (run.recipe.learning_rate, run.recipe.batch_size) == (learning_rate, batch_size), (backbone, name)
            how = run.recipe
            assert (how.head, how.evaluate_every, how.freeze_embeddings) == (head, every, True)
            assert (how.head_at_selection, how.precision, how.epochs, how.max_length) == (False, "fp32", 1, 32)


@pytest.mark.parametrize("scale", ["demo", "paper"])
def test_sentence_encoders_are_trained_with_the_adamw_that_the_authors_had(scale):
    runs = Catalogue(configuration.load(scale)).runs
    trained = [run for run in runs if run.modality == "sentence" and run.objective]
    assert {run.identity["training"].get("optimiser") for run in trained} == {"adamw_transformers"}
    # nie2023's, SimCSE's (which huang2023 shares) and li2024's recipes differ in these
    how = {(run.recipe.head_at_selection, run.recipe.freeze_embeddings) for run in trained}
    assert how == {(True, False), (False, False), (False, True)}
    other = asking(scale, rows={"today's": {"objective": "infonce", "settings": {"optimiser": "adamw"}}})
    (run,) = {run.hash8: run for run in set(other.runs) - set(runs) if run.backbone.key == "BERT_base"}.values()
    assert "optimiser" not in run.identity["training"]  # a run of before this setting is still itself
    with pytest.raises(UserError, match="weight_decay: .*0.01, but optimiser adamw_transformers has none"):
        asking(scale, rows={"decayed": {"objective": "infonce", "settings": {"weight_decay": 0.01}}}).runs  # noqa: B018


def test_a_step_of_table_5_switches_on_one_component_more(cells):
    for row, plain in (("MHE", 10), ("B", 30), ("V", 30)):
        dissipation, weight, ratio = (
            cells["li2024", "table_5", row, column].runs[0].params for column in ("+GD", "+W", "+R")
        )
        assert (dissipation["margin"], dissipation["temperature"], dissipation["ratio"]) == (0.3, None, None)
        assert (weight["margin"], weight["temperature"], weight["ratio"]) == (0.3, 0.05, None)
        assert {key for key in ratio if ratio[key] != weight[key]} == {"ratio"}
        assert (dissipation["lam"], weight["lam"]) == (plain, 1)
    run = cells["li2024", "table_5", "MHS", "+GD"].runs[0]
    assert run.params == {"margin": 0.3, "ratio": None, "lam": 1.0}
    assert run.slug == "released-lam1-margin0.3-lr5e-06-b128"


def test_macl_and_its_controls_differ_in_what_they_should_and_share_what_they_can(cells):
    for table, backbone, block, rate in (
        ("table_3", "RoBERTa_base", "STS", 1e-5), ("table_3", "RoBERTa_base", "transfer", 1e-5),
        ("table_B4", "BERT_base", "STS", 3e-5), ("table_B4", "BERT_base", "transfer", 3e-5),
    ):  # fmt: skip
        column = {"STS": "STS12", "transfer": "MR"}[block]
        rows = {
            row: cells["huang2023", table, f"{row} {block}", column]
            for row in ("SimCSE", "InfoNCE [dropout 0.1]", "InfoNCE [dropout 0.2]", "MACL [dropout 0.1]", "MACL")
        }
        how = {row: cell.runs[0].recipe for row, cell in rows.items()}
        assert {(recipe.learning_rate, recipe.batch_size) for row, recipe in how.items() if row != "SimCSE"} == {
            (rate, 64)
        }
        assert [recipe.dropout for recipe in how.values()] == [None, None, 0.2, None, 0.2]
        assert rows["MACL"].runs[0].backbone.key == backbone
        assert rows["MACL"].runs[0].params == rows["MACL [dropout 0.1]"].runs[0].params
        assert rows["MACL [dropout 0.1]"].published_row == f"MACL {block}"
        shared = rows["InfoNCE [dropout 0.1]"].runs == rows["SimCSE"].runs
        assert shared == (backbone == "BERT_base")  # SimCSE's batch on RoBERTa_base is 512
    macl = cells["huang2023", "table_B4", "MACL STS", "Avg"]
    assert macl.score == "sts/Avg"
    assert cells["huang2023", "table_B4", "MACL transfer", "Avg"].score == "transfer/Avg"
    assert macl.runs[0].params == {
        "base_temperature": 0.05, "alpha": 2.0, "alignment_threshold": 0.8, "reweight": False, "negatives": "cross"
    }  # fmt: skip
    assert "dropout0.2" in macl.runs[0].slug
    assert "reweight_false" in macl.runs[0].slug
    assert cells["huang2023", "table_B5", "BERT MACL", "Avg"].runs == macl.runs


def test_a_backbone_left_out_is_a_hole_that_names_the_key():
    bench = Catalogue(configuration.load("bench"))
    holes = {cell.column: cell.hole for cell in bench.tables[0].cells if cell.hole}
    assert set(holes) == {"BERT_large", "RoBERTa_base", "RoBERTa_large"}
    assert "sentence.backbones.RoBERTa_base" in holes["RoBERTa_base"]


def test_identity_follows_what_decides_the_result_and_nothing_else():
    def hashes(**changes):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config.yaml"), {"figures": [], **changes})
        return [run.hash8 for run in Catalogue(configuration.parse(raw)).runs if run.modality == "sentence"]

    base = hashes()
    assert hashes(mirror=".", device="auto", jobs={"runs": 1}, seeds=[7, 8]) == base
    untrained = 3 * 4
    assert hashes(sentence={"training": {"learning_rate": 2e-3}})[:untrained] == base[:untrained]
    assert not set(hashes(sentence={"training": {"learning_rate": 2e-3}})[untrained:]) & set(base)
    assert not set(hashes(sentence={"corpus_lines": 4000})) & set(base)


def test_a_switch_that_is_off_leaves_old_identities_alone_and_one_that_is_on_does_not():
    switches = {"held_out", "checkpoint_every", "optimiser"}
    assert not switches & set(Recipe().identity)
    assert Recipe(held_out=0.1).identity == {**Recipe().identity, "held_out": 0.1}
    assert set(Recipe().identity) == set(Recipe.model_fields) - switches


def test_parameters_read_well_in_a_folders_name():
    assert [readable("t", 2.0), readable("reweight", False), readable("negatives", "both")] == [
        "t2", "reweight_false", "negatives_both"
    ]  # fmt: skip


def test_a_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [1.0, "x"]}) == digest({"b": [1.0, "x"], "a": 1})


def test_grids_are_priced_but_not_run_unless_asked(paper_scale):
    assert not paper_scale.grids
    assert len(paper_scale.grid("nie2023/L_dcl+@BERT_base")) == 11 * 4 * 4
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    asked = Catalogue(configuration.parse({**raw, "grids": ["nie2023/L_cl@BERT_base"]}))
    grid = asked.grids["nie2023/L_cl@BERT_base"]
    assert len(grid) == 3 * 4 * 4
    # at a scale that overrides batch and learning rate the grid still varies them
    assert len(Catalogue(configuration.load("demo")).grid("nie2023/L_cl@BERT_base")) == 3 * 4 * 4
    # one grid point is the paper's own setting: trained once
    assert len(asked.runs) == len(paper_scale.runs) + len(grid) - 1


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


def of(run) -> dict:
    return {"identity": run.identity, "seed": run.seed, "code": run.code}


def test_a_figures_csv_holds_curves_selection_statistics_and_scores(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", figures=["nie2023/figure_3a"], seeds=[7])
    rows = {kind: [[f"STS{year}", "test", "spearman_all", 0.5] for year in range(12, 17)] for kind in ("sts",)}
    rows["sts"] += [[task, "test", "spearman", 0.5] for task in ("STSBenchmark", "SICKRelatedness")]
    tasks = ("MR", "CR", "SUBJ", "MPQA", "SST2", "TREC", "MRPC")
    rows["transfer"] = [[task, "test", "accuracy", 80.0] for task in tasks]
    (figure,) = catalogue.figures
    for run in figure.runs:
        history = [{"step": 20, "loss": 0.5, "stsb_dev": 0.6}, {"step": 40, "loss": 0.25, "stsb_dev": 0.7}]
        write_json(run.record, {**of(run), "history": history, "best_step": 40, "best_score": 0.7})
        for kind in rows:
            write_json(run.folder / f"{kind}.json", {"rows": rows[kind]})
    recorded = [[20, "train_distance_gap", 0.125], [20, "other", 1]]
    write_json(figure.runs[0].folder / "statistics.json", {"rows": recorded})
    long = pd.read_csv(figures.write(catalogue, "nie2023/figure_3a"))
    assert list(long) == ["series", "backbone", "margin", "seed", "step", "statistic", "value", "note"]
    assert long["note"].isna().all()
    first = long[long["margin"] == 0.05]
    assert first[["step", "statistic", "value"]].to_numpy().tolist() == [
        [20, "train_distance_gap", 0.125], [40, "sts/Avg", 50.0], [40, "transfer/Avg", 80.0]
    ]  # fmt: skip
    assert set(long["seed"]) == {7}
    assert len(long["margin"].unique()) == 9
    (run,) = catalogue.figure("li2024/figure_6").points[0].runs
    write_json(run.record, {**of(run), "history": history, "best_step": 40, "best_score": 0.7, "code": "older"})
    point = replace(catalogue.figure("li2024/figure_6"), points=catalogue.figure("li2024/figure_6").points[:1])
    assert set(figures.frame(catalogue, point, Records())["note"]) == {"stale: trained by older code"}
    curve = figures.frame(catalogue, point, Records())[["margin", "temperature", "ratio", "step", "statistic", "value"]]
    assert curve.to_numpy().tolist() == [
        [0.3, 0.05, 1.0, 20, "stsb_dev", 0.6], [0.3, 0.05, 1.0, 40, "stsb_dev", 0.7],
        [0.3, 0.05, 1.0, 40, "best_stsb_dev", 0.7],
    ]  # fmt: skip


def test_a_figures_csv_holds_the_last_histograms_as_shares(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", seeds=[7])
    figure = catalogue.figure("li2024/figure_5")
    bins = {"statistic": "heldout_positive_cosine", "low": -1.0, "high": 1.0}
    histograms = [{"step": step, **bins, "counts": counts} for step, counts in ((0, [9, 1]), (40, [1, 3]))]
    for run in figure.runs:
        write_json(run.record, {**of(run), "history": [], "best_step": 40, "best_score": 0.7})
        write_json(run.folder / "statistics.json", {"rows": [], "histograms": histograms})
    long = figures.frame(catalogue, figure, Records())
    baseline = long[long["series"] == "baseline"][["step", "statistic", "bin", "value"]]
    assert baseline.to_numpy().tolist() == [
        [40, "heldout_positive_cosine", -0.5, 0.25], [40, "heldout_positive_cosine", 0.5, 0.75]
    ]  # fmt: skip


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


def test_the_price_of_the_paper_scale_is_of_the_right_order(paper_scale):
    price = cost.of_runs(paper_scale, paper_scale.runs)
    assert 300 < price.hours < 3000  # the anchors paper names 1100 to 1300 minutes for one training on an older GPU
    images = cost.of_runs(paper_scale, tuple(run for run in paper_scale.runs if run.modality == "image"))
    assert 20 < price.hours - images.hours < 500
    assert 40 < price.gigabytes < 250


def test_a_row_of_ours_stands_where_experiments_puts_it():
    published = {"rows": [{"id": "Pretrained"}, {"id": "L_cl"}]}
    assert row_order(published, {"rows": {"first": 0, "Pretrained": 0, "L_cl": 0}})[0] == "first"
    assert row_order(published, {"rows": {"Pretrained": 0, "mine": 0, "L_cl": 0}}) == ["Pretrained", "mine", "L_cl"]


def test_a_setting_that_nobody_knows_is_refused():
    for objective, settings in (("dcl", {"evaluate_evry": 5}), (None, {"poolin": "cls"}), (None, {"temperature": 1})):
        with pytest.raises(UserError, match="unknown setting"):
            split_settings(settings, objective, "here")


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


def test_only_the_papers_own_settings_are_comparable(paper_scale):
    def changed(**sentence):
        raw = configuration.merge(configuration.read(configuration.ROOT / "config/paper.yaml"), {"sentence": sentence})
        return Catalogue(configuration.parse(raw)).is_papers_own

    assert paper_scale.is_papers_own
    assert changed(backbones={"BERT_large": None})
    assert not changed(backbones={"BERT_large": {"kind": "pretrained", "source": "bert-base-uncased"}})
    assert not changed(corpus_lines=1000)
    assert not changed(training={"epochs": 0.1})
    assert not changed(protocol="fast")
    assert not Catalogue(configuration.load("bench")).is_papers_own


def test_a_row_of_your_own_stands_in_every_table_that_compares_objectives(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: mpt, variant: written, settings: {margin: 0.5}}}")
    catalogue = Catalogue(configuration.load("demo", [file]))
    usual = set(Catalogue(configuration.load("demo")).runs)
    added = [run for run in catalogue.runs if run not in usual]
    config = catalogue.config
    # one run a backbone and seed fills all tables
    assert len(added) == len(config.seeds) * len(config.sentence.backbones)
    assert {(run.objective, run.variant, run.params["margin"]) for run in added} == {("mpt", "written", 0.5)}
    rows = {table.target: [c.row for c in table.cells if "mine" in c.row] for table in catalogue.tables if table.runs}
    images = {table.target for table in catalogue.tables if table.modality == "image"}
    assert images == {"huang2023_table_9", "huang2023_table_B3", "oar2024_table_3", "oar2024_table_4"}
    assert {target for target, names in rows.items() if not names} == {"li2024_table_5", *images}
    assert set(rows["huang2023_table_B4"]) == {"STS mine", "transfer mine"}
    assert set(rows["li2024_table_3"]) == {"BERT_base mine", "RoBERTa_base mine"}


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("{objective: mptt}", "unknown objective 'mptt'. Did you mean mpt"),
        ("{objective: mpt, settings: {margn: 0.5}}", "unknown setting 'margn' in rows.mine. Did you mean margin"),
        ("{objective: mpt, settings: {margin: wide}}", "rows.mine: mpt: margin must be a number, not 'wide'"),
        ("{objective: mpt, recipe: simcse}", "rows.mine: write the recipe 'simcse' with its paper"),
        ("{objective: mpt, settings: {margin: .inf}}", "rows.mine: mpt: margin must be finite"),
        ("{objective: infonce, settings: {temperature: 0}}", "infonce: temperature must be finite and > 0, not 0"),
        ("{objective: mpt, recipe: li2024.simce}", "unknown recipe 'simce' in papers/li2024.*Did you mean simcse"),
        ("{objectiv: mpt}", "unknown key 'objectiv' in rows.mine. Did you mean objective"),
    ],
)
def test_a_wrong_row_is_refused(tmp_path, row, message):
    file = tmp_path / "mine.yaml"
    file.write_text(f"rows: {{mine: {row}}}")
    with pytest.raises(UserError, match=message):
        Catalogue(configuration.load("demo", [file]))


def test_a_row_may_not_take_a_papers_name(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {L_cl: {objective: infonce}}")
    with pytest.raises(UserError, match="'L_cl' is a row of nie2023 table_1 already"):
        Catalogue(configuration.load("demo", [file]))


def test_a_row_is_a_hole_where_its_recipe_knows_nothing_of_the_backbone(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text("rows: {mine: {objective: oar, recipe: li2024.li2024, settings: {base: mpt, margin: 0.5}}}")
    catalogue = Catalogue(configuration.load("demo", [file]))
    cells = {c.column: c for c in catalogue.tables[0].cells if c.row == "mine" and c.metric == "sts"}
    assert cells["BERT_large"].hole == "the recipe li2024.li2024 has no settings for BERT_large"
    assert [run.recipe.head for run in cells["RoBERTa_base"].runs] == ["tanh_linear"] * len(catalogue.config.seeds)
    (code,) = {run.code for run in cells["BERT_base"].runs}
    assert code == fingerprint.of_stage("train", "oar", "mpt") != fingerprint.of_stage("train", "oar", "met")


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


def test_a_table_of_a_paper_that_is_left_out_says_so():
    with pytest.raises(UserError, match=r"of a paper that `papers` leaves out; `tables: \[\]` is all of li2024"):
        asking("bench", papers=["li2024"])
