"""Fine-tuning of a whole network, as a stage does it."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from clrepro import stages
from clrepro.evaluation import fine_tune
from clrepro.modalities.image import image_sets, words
from clrepro.modalities.image.encoder import load
from clrepro.modalities.image.evaluations import FINE_TUNING
from clrepro.modalities.image.label_shares import label_subset, selection_rows
from clrepro.paths import read_json
from clrepro.stages.evaluating import Asked
from tests.catalogue.asking import asking


def test_the_stage_fine_tunes_a_whole_network_as_a_direct_call_does(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", seeds=[1], tables=["oar2024/table_4"], figures=[], image={"training": {"epochs": 0.2}})
    run = catalogue.runs[0]
    config, features = catalogue.config, tmp_path / "features"
    stages.fetch(run.backbone.source, config)
    stages.prepare(run.backbone, config)
    stages.train([run], config)
    stages.embed([run], config, features)
    head = {"share": 0.1, "hidden": [16], "epochs": 2, "batch_size": 32, "learning_rate": 0.05, "momentum": 0.9}
    frozen = {"finetune_10": {**head, "frozen": True}, "finetune_100": {**head, "share": 1, "frozen": True}}
    whole = {kind: {**part, "frozen": False} for kind, part in frozen.items()}
    assert not FINE_TUNING.uses_gpu(frozen)
    assert FINE_TUNING.uses_gpu(whole)
    kinds, found = ["finetune_10", "finetune_100", "finetune_100_selection"], {}
    for name, evaluation in (("frozen", frozen), ("whole", whole), ("again", whole)):
        asked = Asked("finetune", kinds, FINE_TUNING.protocol(config, evaluation))
        stages.evaluate([(run, [asked])], config, features)
        found[name] = read_json(run.folder / "finetune.json")
    assert found["whole"] == found["again"] != found["frozen"]
    assert found["whole"]["protocol"]["finetune_10"]["frozen"] is False
    assert "and the encoder, trained together" in words.evaluations([replace(run, evaluation=whole)], kinds)[0]

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

        settings = fine_tune.HeadSettings(hidden=(16,), frozen=False, epochs=2, batch_size=32, learning_rate=0.05)
        test = [(pixels[split][tested], labels[split][tested])]
        encoder = load(run.folder / "model")
        scores_of = fine_tune.evaluate_network(encoder, epoch_of, lambda test=test: test, 10, settings)
        expected.update({(*place, metric): value for metric, value in scores_of.items()})
    measured = {tuple(place): value for *place, value in found["whole"]["rows"]}
    assert measured == pytest.approx(expected, abs=1e-6)
    assert len({measured[key] for key in measured if key[2] == "top1"}) == 3
