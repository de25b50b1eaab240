"""Pre-training as a masked language model: what is masked, what it learns, an interruption."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from clrepro.errors import Interrupted
from clrepro.modalities.sentence import backbone, preparing
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.pretraining import LOOK, SPECIAL, factor, mask_tokens
from clrepro.paths import sha256
from clrepro.training import loop
from clrepro.training.alone import alone
from tests.stop import Stop

SPEC = dict(layers=1, hidden_size=16, heads=2, intermediate_size=None, dropout=0.1, seed=3, mlm_epochs=8)
SPEC["mlm_learning_rate"] = 5e-3


@pytest.fixture(scope="module")
def made(tiny, tmp_path_factory):
    folder, _, sentences = tiny
    tokenizer, root = backbone.make_tokenizer(sentences, 600), tmp_path_factory.mktemp("whole")
    about = backbone.make_scratch(SPEC, tokenizer, TokenisedCorpus(folder), root / "model", Stop())
    return about, tokenizer, root / "model"


def test_pretraining_says_how_long_it_was_and_its_loss_falls(made):
    about, tokenizer, _ = made
    assert (about["sentences"], about["epochs"], about["steps"]) == (600, 8, 72)
    assert len(about["loss"]) == 8
    # at first every token is as likely as any other
    assert about["loss"][0] == pytest.approx(np.log(len(tokenizer)), abs=0.2)
    assert about["loss"][-1] < about["loss"][0] - 0.6


@pytest.mark.parametrize("look", [1, 2, 3])
def test_an_interrupted_pretraining_ends_in_the_same_weights_to_the_bit(made, tiny, tmp_path, look):
    about, tokenizer, whole = made
    how = (SPEC, tokenizer, TokenisedCorpus(tiny[0]), tmp_path / "model")
    with pytest.raises(Interrupted, match=f"stopped at step {(look - 1) * LOOK} of 72; the state is saved"):
        backbone.make_scratch(*how, Stop(look))
    assert not (tmp_path / "model").exists()
    again = backbone.make_scratch(*how, Stop())
    assert {**again, "seconds": 0} == {**about, "seconds": 0}
    found, expected = (load_file(folder / "model.safetensors") for folder in (tmp_path / "model", whole))
    assert all(torch.equal(found[key], expected[key]) for key in expected)


def test_a_build_that_is_made_again_links_what_was_pretrained_once(made, tiny, tmp_path, monkeypatch):
    about, tokenizer, whole = made
    monkeypatch.chdir(tmp_path)
    folder = Path("data/build")
    shutil.copytree(tiny[0], folder, ignore=shutil.ignore_patterns("model"))
    build = SimpleNamespace(folder=folder, scale="demo", spec=SPEC)
    config = SimpleNamespace(device="cpu")
    record = preparing.pretrained(build, tokenizer, None, config)
    assert {**record["pretraining"], "seconds": 0} == {**about, "seconds": 0}
    shutil.rmtree(folder / "model")
    monkeypatch.setattr(backbone, "make_scratch", None)  # nothing is trained any more
    assert preparing.pretrained(build, tokenizer, None, config) == record
    assert sha256(folder / "model/model.safetensors") == sha256(whole / "model.safetensors")
    (state,) = Path("state/demo").iterdir()
    with alone(state, Stop()):  # another build begins with the same weights just now
        monkeypatch.setattr(loop.StopFlag, "requested", True, raising=False)
        monkeypatch.setattr(loop.StopFlag, "__init__", lambda self: None)
        with pytest.raises(Interrupted, match="stopped while .* was being trained by process"):
            preparing.pretrained(build, tokenizer, None, config)


def test_tokens_are_masked_as_bert_masks_them(made):
    tokenizer = made[1]
    torch.manual_seed(0)
    ids = torch.randint(len(SPECIAL), len(tokenizer), (400, 30))
    ids[:, 0], ids[:, 20:] = tokenizer.cls_token_id, tokenizer.pad_token_id
    corrupted, chosen = mask_tokens(ids, tokenizer)
    assert not chosen[:, 0].any()
    assert not chosen[:, 20:].any()
    assert torch.equal(corrupted[~chosen], ids[~chosen])
    assert chosen[:, 1:20].float().mean().item() == pytest.approx(0.15, abs=0.02)
    masked, kept = corrupted[chosen] == tokenizer.mask_token_id, corrupted[chosen] == ids[chosen]
    assert masked.float().mean().item() == pytest.approx(0.8, abs=0.05)
    assert kept.float().mean().item() == pytest.approx(0.1, abs=0.03)
    assert (corrupted[chosen] >= tokenizer.mask_token_id).all()


def test_the_learning_rate_rises_for_a_tenth_and_falls_to_nothing():
    assert [factor(step, 100) for step in (0, 4, 9)] == pytest.approx([0.1, 0.5, 0.91])
    assert factor(99, 100) == pytest.approx(0.01)
