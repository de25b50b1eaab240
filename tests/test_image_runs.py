"""Image runs: training through the loop, their cells in the catalogue, sweeps, and the workflow end to end."""

import json
import os
import signal
from dataclasses import replace

import numpy as np
import pytest
import torch
import yaml
from safetensors.torch import load_file

from clrepro import config as configuration
from clrepro import objectives, stages
from clrepro.catalogue import Catalogue, papers, tables
from clrepro.catalogue.runs import result_file
from clrepro.errors import Interrupted, UserError
from clrepro.evaluation import fine_tune, linear_probe
from clrepro.ledger import Records, cells
from clrepro.ledger.scores import score, scores
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.encoder import load
from clrepro.modalities.image.features import Images, augmented, embed, recipe_of_tests
from clrepro.modalities.image.label_shares import label_subset, selection_rows
from clrepro.modalities.image.probes import Features, rows
from clrepro.modalities.image.training import ImageWorkload, train_encoder
from clrepro.paths import read_json
from clrepro.report import protocol
from clrepro.report import tables as report_tables
from clrepro.training import loop
from tests.test_workflow import Checkout

ENCODER = dict(architecture="conv3", stem=None, side=None, statistics="digits")
PROJECTOR = dict(hidden=16, output=12, layers=2, norm="hidden")
SETTINGS = dict(
    framework="plain", augmentation="digits", projector=None, symmetric=False, key_momentum=None, queue=None,
    predictor_hidden=None, support=None, labelled=0.1, optimiser="sgd", momentum=0.0, learning_rate=0.01,
    learning_rate_rule="fixed", weight_decay=0.0, schedule="constant", warmup_epochs=0.0, epochs=1.5, batch_size=100,
    precision="fp32", clip=None,
)  # fmt: skip


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    image_sets.prepare(None, "digits", folder)
    return folder


def train(digits, state, objective, anchored=False, **changes):
    with loop.StopFlag() as stop:
        return train_encoder(
            objective, {**SETTINGS, **changes}, 3, data=digits, encoder=ENCODER, device="cpu", state=state, stop=stop,
            anchored=anchored,
        )  # fmt: skip


def weights(state):
    (folder,) = state.glob("best-*")
    return (folder / "model.safetensors").read_bytes()


FRAMEWORKS = {
    "oar": (
        objectives.make("oar", base="nt_xent", temperature=0.1),
        dict(framework="simclr", projector=PROJECTOR, optimiser="adam", schedule="cosine", warmup_epochs=0.5),
    ),
    "moco": (
        objectives.make("infonce", temperature=0.2),
        dict(framework="moco", projector=PROJECTOR, key_momentum=0.9, queue=300, momentum=0.9),
    ),
    "nnclr": (
        objectives.make("macl", base_temperature=0.1, negatives="cross"),
        dict(framework="nnclr", projector=PROJECTOR, predictor_hidden=20, support=300, optimiser="lars"),
    ),
}


@pytest.mark.parametrize("name", FRAMEWORKS)
def test_an_interrupted_image_training_ends_in_the_same_files_to_the_bit(digits, tmp_path, name):
    """Weights, momentum weights, queue, support set and anchors; batch norm and probes."""
    objective, changes = FRAMEWORKS[name]
    whole = train(digits, tmp_path / "whole", objective, name == "oar", **changes)
    assert (whole["steps"], whole["best_step"]) == (20, 20)  # 13 steps an epoch, one and a half of them
    calls, terms = 0, 2 if name == "nnclr" else 1

    def interrupted(view1, view2, **extras):
        nonlocal calls
        calls += 1
        if calls == 9 * terms:
            os.kill(os.getpid(), signal.SIGTERM)
        return objective(view1, view2, **extras)

    with pytest.raises(Interrupted, match="stopped at step 9 of 20"):
        train(digits, tmp_path / "parts", interrupted, name == "oar", **changes)
    parts = train(digits, tmp_path / "parts", objective, name == "oar", **changes)
    assert parts["history"] == whole["history"]
    assert weights(tmp_path / "parts") == weights(tmp_path / "whole")
    assert (tmp_path / "parts/statistics.json").read_bytes() == (tmp_path / "whole/statistics.json").read_bytes()
    found = {name for _, name, _ in read_json(tmp_path / "whole/statistics.json")["rows"]}
    assert {"train_alignment", "train_uniformity", "gradient_norm_mean"} <= found
    assert "gradient_clipped_share" not in found


def test_images_differ_between_views_and_a_single_last_image_is_left_out(digits):
    split = image_sets.load(digits / "train")
    workload = ImageWorkload(split, ENCODER, {**SETTINGS, "batch_size": 16}, 1)
    assert len(split.labels) % 16 == 1
    assert workload.steps_per_epoch == 81
    epoch = np.concatenate([workload.order_of(step) for step in range(81)])
    assert len(set(epoch)) == 1296
    again = np.concatenate([workload.order_of(step) for step in range(81, 162)])
    assert not np.array_equal(epoch, again)
    ((view1, view2, extras),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert view1.shape == (16, 64)
    assert not torch.allclose(view1, view2)
    assert extras == {}
    with pytest.raises(UserError, match="single process"):
        workload.terms(workload.model, 0, torch.device("cpu"), 0, 2)


def test_anchors_see_the_labels_of_the_share_only(digits):
    split = image_sets.load(digits / "train")
    workload = ImageWorkload(split, ENCODER, SETTINGS, 1, anchored=True)
    known = (workload.labels >= 0).numpy()
    assert 0.09 < known.mean() < 0.11
    assert (workload.labels.numpy()[known] == split.labels[known]).all()
    ((_, _, extras),) = workload.terms(workload.model, 0, torch.device("cpu"))
    assert extras["anchors"].shape == (10, 64)
    assert extras["labels"].shape == (100,)


def test_a_training_that_diverges_is_a_result_that_counts_nothing(digits, tmp_path):
    objective = objectives.make("nt_xent", temperature=0.1)
    calls = 0

    def breaks(view1, view2):
        nonlocal calls
        calls += 1
        return objective(view1, view2) * (float("inf") if calls == 5 else 1)

    result = train(digits, tmp_path, breaks)
    assert "training diverged at step 5: the objective is inf" in result["diverged"]["cause"]
    assert weights(tmp_path)
    labels = image_sets.load(digits / "train").labels, image_sets.load(digits / "test").labels
    lost = [np.full((len(part), 4), np.nan, np.float32) for part in labels]
    features = Features(lost[0], labels[0], lost[1], labels[1])
    settings = {"linear": {"epochs": 1}, "finetune_10": {"share": 0.1, "hidden": [4], "epochs": 1}}
    kinds = ("linear", "finetune_10", "finetune_10_selection", "collapse")
    found = {file: rows(f"{file}.json", features, settings, kinds) for file in ("linear", "finetune", "collapse")}
    assert {row[3] for row in found["linear"]} == {row[3] for row in found["finetune"]} == {0}
    assert {row[1] for row in found["finetune"]} == {"test", "selection"}
    assert found["collapse"] == []
    json.dumps(result, allow_nan=False)


def test_probes_of_features_have_the_rows_that_scores_take(digits, tmp_path):
    train(digits, tmp_path, objectives.make("nt_xent", temperature=0.1))
    (folder,) = tmp_path.glob("best-*")
    encoder, parts = load(folder), []
    recipe = recipe_of_tests("digits", ENCODER)
    for split in ("train", "test"):
        part = image_sets.load(digits / split)
        parts += [embed(encoder, part, recipe, torch.device("cpu")), part.labels]
    settings = {
        "linear": {"augmentation": "none", "epochs": 2},
        "knn": {"k": 5000, "weighting": "weighted", "temperature": 0.1},
        "knn_plain": {"k": 200, "weighting": "plain"},
        "finetune_10": {"share": 0.1, "hidden": [8], "epochs": 2},
        "finetune_100": {"share": 1, "hidden": [8], "epochs": 2},
    }
    names = ("linear/top1", "knn/top1", "knn_plain/top5", "finetune_10/top1", "finetune_100_selection/top5")
    for name in (*names, "collapse/variance_unit"):
        file = result_file(name)
        found = rows(file, Features(*parts), settings, [name.split("/")[0]])
        assert 0 < score(name, {file.removesuffix(".json"): found}) <= 100
    # the views of a probe that augments are those of the epoch, and the features those of the encoder at rest
    train_set = image_sets.load(digits / "train")
    batches = augmented(encoder, train_set, recipe, 300, torch.device("cpu"))
    features, labels = next(iter(batches(1)))
    order = torch.randperm(len(parts[1]), generator=torch.Generator().manual_seed(1))[:300]
    assert (labels.numpy() == parts[1][order]).all()
    torch.testing.assert_close(features, torch.from_numpy(parts[0][order]), rtol=1e-4, atol=1e-5)
    weights, _ = linear_probe.fit(batches, 64, 10, linear_probe.Settings(epochs=1))
    assert weights.shape == (10, 64)
    seen = Images(lambda: load(folder), {"train": train_set}, recipe, torch.device("cpu"))
    augmenting = {"linear": {"augmentation": "linear", "epochs": 1}}
    probed = rows("linear.json", Features(*parts, seen), augmenting, ["linear"])
    assert probed[0][:3] == ["linear", "test", "top1"]


def test_the_stage_fine_tunes_a_whole_network_as_a_direct_call_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = demo(seeds=[1], tables=["oar2024/table_4"], figures=[], image={"training": {"epochs": 0.2}})
    run = catalogue.runs[0]
    stages.fetch(catalogue, run.backbone.source)
    stages.prepare(catalogue, run.backbone)
    stages.train(catalogue, [run])
    stages.embed(catalogue, [run])
    head = {"share": 0.1, "hidden": [16], "epochs": 2, "batch_size": 32, "learning_rate": 0.05, "momentum": 0.9}
    frozen = {"finetune_10": {**head, "frozen": True}, "finetune_100": {**head, "share": 1, "frozen": True}}
    whole = {kind: {**part, "frozen": False} for kind, part in frozen.items()}
    assert not replace(run, evaluation=frozen).probes_need_images
    assert replace(run, evaluation=whole).probes_need_images
    monkeypatch.setattr(catalogue, "kinds", lambda run: ("finetune_10", "finetune_100", "finetune_100_selection"))
    found = {}
    for name, evaluation in (("frozen", frozen), ("whole", whole), ("again", whole)):
        stages.probe_images(catalogue, [replace(run, evaluation=evaluation)])
        found[name] = read_json(run.folder / "finetune.json")
    assert found["whole"] == found["again"] != found["frozen"]
    assert found["whole"]["protocol"]["finetune_10"]["frozen"] is False
    assert "and the encoder, trained together" in protocol.probes([replace(run, evaluation=whole)], whole)[0]

    sets = {split: image_sets.load(run.backbone.folder / split) for split in image_sets.SPLITS}
    pixels = {split: (torch.from_numpy(np.array(part.images)) / 255 - 0.3053) / 0.3760 for split, part in sets.items()}
    labels = {split: torch.from_numpy(np.array(part.labels)) for split, part in sets.items()}
    held_out = selection_rows(sets["train"].labels)
    expected = {}
    for place, share, split, tested in (
        (("finetune_10", "test"), 0.1, "test", slice(None)),
        (("finetune_100", "test"), 1, "test", slice(None)),
        (("finetune_100", "selection"), 0.9, "train", held_out),
    ):
        rows = label_subset(sets["train"].labels, share)
        assert share == 1 or not set(rows) & set(held_out)

        def epoch_of(epoch, rows=rows):
            order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(epoch))
            return [(pixels["train"][rows[part]], labels["train"][rows[part]]) for part in order.split(32)]

        settings = fine_tune.Settings(hidden=(16,), frozen=False, epochs=2, batch_size=32, learning_rate=0.05)
        test = [(pixels[split][tested], labels[split][tested])]
        encoder = load(run.folder / "model")
        scores_of = fine_tune.evaluate_network(encoder, epoch_of, lambda test=test: test, 10, settings)
        expected.update({(*place, metric): value for metric, value in scores_of.items()})
    measured = {tuple(place): value for *place, value in found["whole"]["rows"]}
    assert measured == pytest.approx(expected, abs=1e-6)
    assert len({measured[key] for key in measured if key[2] == "top1"}) == 3


# the catalogue


def demo(**changes):
    raw = configuration.read(configuration.ROOT / "config.yaml")
    return Catalogue(configuration.parse(configuration.merge(raw, changes)))


def cell_of(catalogue, *place):
    return catalogue.cells[(*place, "value")] if len(place) == 4 else catalogue.cells[place]


def test_settings_of_tables_rows_and_columns_are_united_and_never_contradict():
    parts = [
        {"backbone": "A", "settings": {"epochs": 2}},
        {"settings": {"batch_size": 4}},
        None,
        {"score": "linear/top1"},
    ]
    merged = tables.unite("here", *parts)
    assert merged == {"backbone": "A", "score": "linear/top1", "settings": {"epochs": 2, "batch_size": 4}}
    with pytest.raises(UserError, match="here: `settings` give epochs twice, 2 and 3"):
        tables.unite("here", *parts, {"settings": {"epochs": 3}})


def test_columns_set_batch_sizes_which_a_scale_divides_or_leaves_out():
    cells = {size: cell_of(demo(), "huang2023", "table_9", "MACL", size, "linear") for size in ("64", "1024")}
    assert {size: cell.runs[0].recipe.batch_size for size, cell in cells.items()} == {"64": 8, "1024": 128}
    assert cells["64"].results == ("linear.json",)
    some = demo(image={"training": {"batch_sizes": [256]}})
    assert (
        "`image.training.batch_sizes` leaves 64 out"
        in cell_of(some, "huang2023", "table_9", "MACL", "64", "linear").hole
    )
    assert cell_of(some, "huang2023", "table_9", "MACL", "256", "linear").runs
    absent = demo(image={"backbones": {"CIFAR_ResNet-18": None}})
    hole = cell_of(absent, "huang2023", "table_9", "MACL", "64", "linear").hole
    assert hole == "this configuration has no `image.backbones.CIFAR_ResNet-18`"


def test_paper_scale_trains_images_by_the_papers_own_settings():
    catalogue = Catalogue(configuration.load("paper"))
    run = cell_of(catalogue, "huang2023", "table_9", "MACL", "1024", "linear").runs[0]
    assert (run.recipe.batch_size, run.recipe.epochs, run.recipe.learning_rate_rule) == (1024, 200, "linear_above_256")
    assert run.params["alpha"] == 0.5
    assert catalogue.compares([run])
    assert not demo().compares(demo().runs[-1:])
    rates = {place: cell_of(catalogue, "oar2024", "table_4", place, "10%", "top5") for place in ("BT", "OAR-BT")}
    assert {place: cell.runs[0].recipe.learning_rate for place, cell in rates.items()} == {"BT": 0.01, "OAR-BT": 1}
    assert rates["BT"].score == "finetune_10/top5"
    sweep = cell_of(catalogue, "oar2024", "table_3", "BT", "10%")
    assert [value for value, _ in sweep.points] == [10.0**power for power in range(-7, 1)]
    stated = cell_of(catalogue, "oar2024", "figure_2", "InfoNCE", "variance at learning rate 1")
    assert not stated.percent
    assert set(stated.runs) <= set(sweep_runs(catalogue, "InfoNCE"))
    hole = cell_of(catalogue, "huang2023", "table_1", "MACL", "200").hole
    assert hole == "image set imagenet-1k has no url: put it into <mirror>/imagenet"


def sweep_runs(catalogue, row):
    return cell_of(catalogue, "oar2024", "table_3", row, "10%").runs


def test_imagenet_is_planned_where_a_mirror_has_it(tmp_path):
    (tmp_path / "imagenet").mkdir()
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    catalogue = Catalogue(configuration.parse({**raw, "mirror": str(tmp_path)}))
    run = cell_of(catalogue, "huang2023", "table_B1", "MACL", "4096", "top1").runs[0]
    assert (run.recipe.framework, run.recipe.queue, run.recipe.key_momentum) == ("moco", 4096, 0.999)
    assert run.probes_need_images
    equal = [
        cell_of(catalogue, "huang2023", "table_8", row, "accuracy", "top1").runs for row in ("tau0=0.1", "alpha=0.5")
    ]
    assert equal[0] == equal[1]
    assert "without adaptive" in next(
        row for row in papers.published_tables("huang2023")["table_7"]["rows"][-1].values()
    )
    drop = cell_of(catalogue, "huang2023", "figure_3", "MACL drop 2048 to 256", "top1")
    ((plus, minus),) = drop.differences
    assert (plus[0][2], minus[0][2]) == ("2048", "256")
    assert "quoted" in cell_of(catalogue, "huang2023", "figure_3", "SimCLR", "8192").hole


def test_a_row_of_an_image_recipe_stands_in_tables_of_images_only():
    recipe = {"objective": "barlow_twins", "recipe": "huang2023.simclr_cifar"}
    catalogue = demo(rows={"mine": recipe})
    found = {(cell.paper, cell.table) for cell in catalogue.cells.values() if cell.row == "mine"}
    assert found == {("huang2023", "table_9"), ("huang2023", "table_B3")}
    sizes = {cell_of(catalogue, "huang2023", "table_9", "mine", size, "linear").runs[0].recipe.batch_size
             for size in ("64", "1024")}  # fmt: skip
    assert sizes == {8, 128}


# sweeps, from results written by hand


def write(run, select, test, diverged=False):
    run.folder.mkdir(parents=True, exist_ok=True)
    record = {"identity": run.identity, "seed": run.seed, "code": run.code, "steps": 1, "model": {}}
    if diverged:
        record["diverged"] = {"step": 1, "cause": "for the test"}
    run.record.write_text(json.dumps(record))
    found = [[f"finetune_{share}", split, "top1", value] for share in (10, 50, 100)
             for split, value in (("selection", select), ("test", test))]  # fmt: skip
    (run.folder / "finetune.json").write_text(json.dumps({"rows": found}))


def sweep(tmp_path, monkeypatch, column="10%"):
    monkeypatch.chdir(tmp_path)
    catalogue = demo()
    cell = cell_of(catalogue, "oar2024", "table_3", "BT", column)
    assert [value for value, _ in cell.points] == [1e-4, 1e-2, 1.0]
    assert {run.seed for run in cell.runs} == {42, 43}
    return catalogue, cell


def test_a_sweep_takes_the_highest_mean_of_what_selects_and_of_equal_ones_the_smallest_rate(tmp_path, monkeypatch):
    catalogue, cell = sweep(tmp_path, monkeypatch)
    values = {1e-4: [(40, 11), (60, 12)], 1e-2: [(45, 21), (55, 22)], 1.0: [(0, 90), (99, 91)]}
    for rate, runs in cell.points:
        for run, (select, test) in zip(runs, values[rate], strict=True):
            write(run, select, test, diverged=rate == 1.0 and select == 0)
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {42: 11, 43: 12}
    assert found.note == "learning rate 0.0001 of 0.0001, 0.01, 1 (1 runs diverged and count 0)"
    on_test = cell_of(catalogue, "oar2024", "table_3", "BT", "10% [chosen on test]")
    assert scores(catalogue, on_test, Records()).by_seed == {42: 90, 43: 91}
    table = next(table for table in catalogue.tables if table.name == "table_3" and table.paper == "oar2024")
    line = cells.of_table(catalogue, table).set_index(["row", "column"])
    assert line["ours"]["BT", "10%"] == pytest.approx(0.115)
    # a column of ours stands beside the published number of another one
    assert line["published"]["BT", "10% [chosen on test]"] == line["published"]["BT", "10%"] == 0.4148


def test_an_unfinished_sweep_is_a_hole_and_only_common_seeds_count(tmp_path, monkeypatch):
    catalogue, cell = sweep(tmp_path, monkeypatch)
    for rate, runs in cell.points[:2]:
        for run in runs:
            write(run, 50 + rate, 70 + run.seed)
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {}
    assert found.note == "sweep not finished, 4 of 6 runs: seed 42, 43 not run yet"
    assert found.fill == "snakemake oar2024_table_3 --cores all"
    write(cell.points[2][1][1], 10, 5)  # seed 43 of the last rate
    found = scores(catalogue, cell, Records())
    assert found.by_seed == {43: 113}
    assert found.note == "learning rate 0.01 of 0.0001, 0.01, 1; sweep not finished, 5 of 6 runs: seed 42 not run yet"


def test_variances_are_no_percentages(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = demo()
    cell = cell_of(catalogue, "oar2024", "figure_2", "InfoNCE", "variance at learning rate 1")
    for run in cell.runs:
        write(run, 50, 70)
        content = {"rows": [["collapse", "test", "variance_unit", 0.123456789]]}
        (run.folder / "collapse.json").write_text(json.dumps(content))
    frame = cells.frame(catalogue).query("paper == 'oar2024' and table == 'figure_2' and row == 'InfoNCE'")
    assert dict(zip(frame["column"], frame["ours"], strict=True)) == {
        "accuracy at learning rate 1": 0.7, "variance at learning rate 1": 0.1235
    }  # fmt: skip


def test_captions_of_image_tables_say_data_encoder_and_probes():
    catalogue = demo()
    found = {}
    for table in catalogue.tables:
        if table.modality == "image":
            found[table.name] = " ".join(report_tables.caption(catalogue, table))
            assert "SentEval" not in found[table.name]
            assert "conv3 on digits" in found[table.name]
    assert "batch 8/16/32/64/128" in found["table_9"]
    assert "Top-5 is of ten classes" in found["table_4"]
    assert "Top-5" not in found["table_3"]
    assert "k = 200" in found["table_B3"]


def test_a_scale_divides_the_widths_of_heads_and_nothing_else_of_them():
    def heads(divisor):
        catalogue = demo(image={"training": {"hidden_divisor": divisor, "probe_epochs": None}})
        runs = [run for run in catalogue.runs if run.backbone.key == "CIFAR10_ResNet-18"]
        return {kind: part for run in runs for kind, part in run.feature_probes.items() if "hidden" in part}

    printed, third, tiny = heads(1), heads(3), heads(1000)
    assert len(printed) == 3
    for kind, head in printed.items():
        assert head["hidden"] == [256, 128, 64]
        assert third[kind] == {**head, "hidden": [85, 42, 21]}
        assert tiny[kind]["hidden"] == [1, 1, 1]


# the workflow

TINY = {
    "papers": ["huang2023", "oar2024"],
    "tables": ["huang2023/table_B3", "oar2024/table_3"],
    "seeds": [1],
    "figures": ["oar2024/figure_2", "oar2024/figure_3", "huang2023"],
    "simulation": {"points": 5, "batches": 3, "steps": 2},
    "jobs": {"runs": 24},
    "image": {
        "training": {"epochs": 0.2, "batch_divisor": 4, "batch_sizes": [128, 256], "learning_rates": [0.01, 1.0],
                     "probe_epochs": 1},
    },
}  # fmt: skip


@pytest.mark.slow
def test_image_tables_and_figures_are_made_end_to_end(tmp_path):
    import pandas as pd

    folder = Checkout(tmp_path)
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(TINY))
    drawn = {"huang2023": ("figure_3", "figure_4"), "oar2024": ("figure_2", "figure_3")}
    figures = [f"{paper}_{name}" for paper, names in drawn.items() for name in names]
    folder.snakemake("huang2023_table_B3", "oar2024_table_3", *figures, config="tiny.yaml")
    table = pd.read_csv(tmp_path / "results/demo/tables/huang2023/table_B3.csv")
    here = table["column"].isin([128, 256])
    assert table.loc[here, "ours"].notna().all()
    assert table.loc[~here, "ours"].isna().all()
    table = pd.read_csv(tmp_path / "results/demo/tables/oar2024/table_3.csv")
    assert table["ours"].between(0, 1).all()
    assert table["note"].str.startswith("learning rate ").all()
    for paper, names in drawn.items():
        files = {file.name for file in (tmp_path / "results/demo/figures" / paper).iterdir()}
        assert files >= {f"{name}.{suffix}" for name in names for suffix in ("svg", "png", "csv")}
    spectra = pd.read_csv(tmp_path / "results/demo/figures/oar2024/figure_3.csv")
    counts = spectra["statistic"].value_counts()
    assert (counts["singular_value"], counts["affinity"]) == (4 * 64, 4 * 50 * 50)  # two losses at two rates
    places = pd.read_csv(tmp_path / "results/demo/figures/huang2023/figure_4.csv")
    assert (places["statistic"] == "class").sum() == 2 * 500
    batches = pd.read_csv(tmp_path / "results/demo/figures/huang2023/figure_3.csv")
    assert set(batches["batch_size"]) == {32, 64}
    record = next((tmp_path / "results/demo/runs/image").glob("CIFAR_ResNet-18/macl/*-b64-*/seed1/record.json"))
    names = {file.name for file in record.parent.iterdir()}
    assert names == {"record.json", "model", "statistics.json", "linear.json", "knn.json", "places.json"}
    state = load_file(record.parent / "model/model.safetensors")
    assert "layers.0.weight" in state
    assert "Nothing to be done" in folder.snakemake("-n", "oar2024_table_3", config="tiny.yaml")
    # another probe's settings probe again, and train nothing
    changed = {**TINY, "image": {"training": {**TINY["image"]["training"], "probe_epochs": 2}}}
    (tmp_path / "changed.yaml").write_text(yaml.safe_dump(changed))
    done = folder.snakemake("-n", "huang2023_table_B3", config="changed.yaml")
    assert "probe_huang2023_images" in done
    assert "train_huang2023_images" not in done
    report = folder.run("report", "--configfile", "tiny.yaml", program="clrepro.cli")
    assert report.returncode == 0, report.stderr
    assert "conv3 on digits" in (tmp_path / "results/demo/report.html").read_text()
