"""What a person sees of a failed job: exit code, console, log."""

import os
from types import SimpleNamespace

import pytest
import yaml

from clrepro.errors import Interrupted, UserError
from clrepro.paths import ROOT
from clrepro.stages.job import job


@pytest.mark.parametrize(
    ("failure", "code", "text"),
    [
        (UserError("the corpus is empty"), 1, "error in train_x: the corpus is empty"),
        (Interrupted("stopped at step 3"), 75, "train_x: stopped at step 3"),
    ],
)
def test_an_expected_failure_is_one_line_on_console_and_in_the_log(tmp_path, capsys, failure, code, text):
    with pytest.raises(SystemExit) as ended, job(fake(tmp_path)):
        raise failure
    assert ended.value.code == code
    assert capsys.readouterr().err == (tmp_path / "log").read_text() == f"{text}\n"


def test_an_unexpected_failure_leaves_its_traceback_in_the_log_and_goes_on_to_python(tmp_path):
    with pytest.raises(ZeroDivisionError), job(fake(tmp_path)):
        1 / 0  # noqa: B018
    assert "Traceback" in (tmp_path / "log").read_text()
    assert "ZeroDivisionError" in (tmp_path / "log").read_text()


def test_only_fetching_may_ask_the_network_whatever_its_rule_is_called(tmp_path, monkeypatch):
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    with job(fake(tmp_path), online=True):
        assert "HF_HUB_OFFLINE" not in os.environ
    with job(fake(tmp_path)):
        assert os.environ["HF_HUB_OFFLINE"] == "1"
    scripts = [file.name for file in (ROOT / "scripts").glob("*.py") if "online=True" in file.read_text("utf-8")]
    assert scripts == ["fetch.py"]


def fake(folder):
    config = yaml.safe_load((ROOT / "config.yaml").read_text())
    return SimpleNamespace(rule="train_x", log=[str(folder / "log")], config=config, resources={}, output=["out"])
