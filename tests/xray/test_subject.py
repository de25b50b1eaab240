"""Losses of one's own file."""

import subprocess
import sys

import pandas as pd
import pytest
import torch

from clrepro.errors import UserError
from clrepro.xray import decompose
from clrepro.xray.subject import subject

OWN = """
import torch
from torch.nn import Module, functional

class Symmetric(Module):
    def __init__(self, temperature=0.1):
        super().__init__()
        self.temperature = temperature
        self.head = torch.nn.Parameter(torch.ones(1))

    def forward(self, first, second):
        logits = functional.normalize(first, dim=1) @ functional.normalize(second, dim=1).T / self.temperature
        target = torch.arange(len(logits))
        return (functional.cross_entropy(logits, target) + functional.cross_entropy(logits.T, target)) / 2

class Float32(Module):
    def __init__(self):
        super().__init__()
        self.table = torch.eye(12)  # no buffer: stays float32
        self.mean = torch.zeros(12)

    def forward(self, first, second):
        self.mean = self.mean + first.mean(0)
        return torch.mm(first + self.mean, self.table).mul(second).mean()

def single(first, second):
    return torch.mm(first, torch.ones(first.shape[1], 1)).float().mean() + (first * second).float().mean()
"""


def test_a_loss_of_ones_own_file_from_the_command_line(tmp_path):
    (tmp_path / "own.py").write_text(OWN)
    command = [sys.executable, "-m", "clrepro.cli", "xray", "own.py:Symmetric", "--temperature", "0.05"]
    done = subprocess.run([*command, "--out", "out"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "fits the paradigm: yes" in done.stdout
    table = pd.read_csv(tmp_path / "out/Symmetric-temperature=0.05.csv")
    assert set(table["panel"]) == {"dissipation", "active", "ratio", "residual", "share", "lemma"}
    assert (tmp_path / "out/Symmetric-temperature=0.05.svg").read_text().startswith("<?xml")
    wrong = subprocess.run([*command[:-2], "--temprature", "1"], cwd=tmp_path, capture_output=True, text=True)
    assert wrong.returncode == 1
    assert "unknown parameter of Symmetric 'temprature'. Did you mean temperature?" in wrong.stderr
    # a loss that knows float32 only is given float32
    (view1, view2), loss = torch.randn(2, 4, 12, dtype=torch.float64), subject(f"{tmp_path}/own.py:single", None, {})
    assert decompose(loss.objective(), view1, view2).residual.shape == (4,)
    # so is a module with a constant of its own, whose state does not go from one batch to the next
    stateful = subject(f"{tmp_path}/own.py:Float32", None, {}).objective()
    first, again = (decompose(stateful, view1, view2) for _ in range(2))
    assert torch.equal(first.dissipation, again.dissipation)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own.py", "defines Symmetric, Float32, single: say which"),
        ("own.py:Symetric", "Did you mean Symmetric?"),
        ("other.py:Symmetric", "does not exist"),
        ("mptt", "Did you mean mpt"),
        ("no_such_package.losses:Loss", "cannot import"),
    ],
)
def test_losses_that_are_not_there_are_named(tmp_path, monkeypatch, spec, message):
    (tmp_path / "own.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=message):
        subject(spec, None, {})
