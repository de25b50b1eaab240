"""A probe that augments images every epoch anew, as a stage does it: it stops, resumes, and is made once."""

import os
import signal

import pytest

from clrepro import stages
from clrepro.errors import Interrupted
from clrepro.evaluation import linear_probe
from clrepro.modalities.image.evaluations import LINEAR
from clrepro.paths import STATE, read_json
from clrepro.stages.evaluating import Asked
from tests.catalogue.asking import asking

HOW = {"epochs": 3, "batch_size": 200, "learning_rate": 0.1}


def test_a_stopped_probe_goes_on_where_it_stopped_and_a_plain_one_keeps_no_state(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    catalogue = asking("demo", seeds=[1], tables=["oar2024/table_4"], figures=[], image={"training": {"epochs": 0.2}})
    run, config, features = catalogue.runs[0], catalogue.config, tmp_path / "features"
    stages.fetch(run.backbone.source, config)
    stages.prepare(run.backbone, config)
    stages.train([run], config)
    stages.embed([run], config, features)
    learn, learnt = linear_probe.Probe.learn, []

    def counted(probe, batch, labels, epoch):
        learnt.append(epoch)
        learn(probe, batch, labels, epoch)
        if len(learnt) == stopping:
            os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr(linear_probe.Probe, "learn", counted)

    def evaluate(augmentation, epochs=3):
        protocol = {"linear": {**HOW, "augmentation": augmentation, "epochs": epochs}}
        learnt.clear()
        stages.evaluate([(run, [Asked("linear", ["linear"], protocol)])], config, features)
        return read_json(run.folder / "linear.json")

    def states():
        return sorted(path.name for path in (STATE / "demo").glob("linear-*/*"))

    stopping = 0
    plain = evaluate("none")
    assert states() == []
    stopping = 10  # of 21 steps, seven an epoch
    with pytest.raises(Interrupted, match="stopped at step 10 of 21"):
        evaluate("linear")
    assert states() == ["saved-10"]
    assert not (run.folder / "linear.json").exists()
    stopping = 0
    found = evaluate("linear")
    assert learnt == [1] * 4 + [2] * 7
    assert states() == ["linear.json"]
    assert evaluate("linear") == found
    assert learnt == []  # what is finished is linked
    assert found["protocol"]["linear"]["augmentation"] == "linear"
    assert [row[:3] for row in found["rows"]] == [row[:3] for row in plain["rows"]]
    (STATE / "demo").rename(tmp_path / "elsewhere")
    assert evaluate("linear") == found  # whole
    assert len(learnt) == 21
    stopping = 14  # at the last step
    with pytest.raises(Interrupted, match="stopped after linear of .*; what is finished is kept"):
        evaluate("linear", epochs=2)
    stopping = 0
    evaluate("linear", epochs=2)
    assert learnt == []
    assert evaluate("none") == plain
    assert LINEAR.resumes({"linear": {**HOW, "augmentation": "linear"}})
    assert not LINEAR.resumes({"linear": HOW})
