"""Backbones: vocabulary, weights that are refused, width."""

from types import SimpleNamespace

import pytest

from clrepro.errors import UserError
from clrepro.modalities.sentence import backbone, cost
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from tests.harmful import touching
from tests.stop import Stop


def test_the_vocabulary_depends_on_the_sentences_alone(tiny):
    from clrepro.modalities.sentence.backbone import SPECIAL, make_tokenizer

    _, _, sentences = tiny
    first, second = (make_tokenizer(sentences, 600) for _ in range(2))
    assert first.get_vocab() == second.get_vocab()
    assert first.convert_ids_to_tokens(range(5)) == SPECIAL
    assert first.tokenize("The weather") == second.tokenize("the WEATHER")
    assert first("the")["input_ids"][0] == first.cls_token_id


def test_model_folders_without_safetensors_are_refused(tmp_path):
    from clrepro.modalities.sentence import backbone

    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "pytorch_model.bin").write_bytes(touching(str(tmp_path / "ran"))["global"])
    with pytest.raises(UserError, match="model.safetensors is missing"):
        backbone.describe(tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(("asked", "between"), [(None, 64), (24, 24)])
def test_a_small_encoder_is_as_wide_as_asked_and_as_its_price_says(tiny, tmp_path, asked, between):
    from transformers import AutoModel

    folder, _, sentences = tiny
    spec = dict(kind="scratch", layers=3, hidden_size=16, heads=2, dropout=0.1, seed=0, mlm_epochs=0, vocabulary=600)
    spec["intermediate_size"] = asked
    tokenizer = backbone.make_tokenizer(sentences, spec["vocabulary"])
    backbone.make_scratch(spec, tokenizer, TokenisedCorpus(folder), tmp_path / "model", Stop())
    made = AutoModel.from_pretrained(tmp_path / "model")
    assert made.config.intermediate_size == between
    matrices = sum(part.numel() for part in made.encoder.parameters() if part.ndim == 2)
    assert matrices == cost.encoder_size(SimpleNamespace(backbone=SimpleNamespace(spec=spec)))[0]
