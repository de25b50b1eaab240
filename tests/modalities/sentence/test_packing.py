"""The forward on real tokens alone: the padded one's vectors and gradients, and its law of dropout."""

import pytest
import torch
from transformers import BertConfig, BertModel, RobertaConfig, RobertaModel

from clrepro.modalities.sentence import packing
from clrepro.modalities.sentence.encoder import SentenceEncoder, save

POOLINGS = ("cls", "avg", "avg_first_last", "avg_embeddings_last")
SHAPES = {  # of one layer less than two: width, heads, width between
    "base": dict(hidden_size=768, num_attention_heads=12, intermediate_size=3072),
    "large": dict(hidden_size=1024, num_attention_heads=16, intermediate_size=4096),
    "small": dict(hidden_size=32, num_attention_heads=2, intermediate_size=64),
}
KINDS = {"bert": (BertConfig, BertModel, 0), "roberta": (RobertaConfig, RobertaModel, 1)}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two layers of every kind and shape, with weights that are not zero where transformers begins with zeros."""
    made = {}
    for kind, (settings, model, pad) in KINDS.items():
        for shape, sizes in SHAPES.items():
            torch.manual_seed(1)
            config = settings(
                vocab_size=200, num_hidden_layers=2, max_position_embeddings=40, pad_token_id=pad, **sizes
            )
            network = model(config, add_pooling_layer=False)
            with torch.no_grad():
                for parameter in network.parameters():
                    parameter.add_(0.03 * torch.randn_like(parameter))
            made[kind, shape] = tmp_path_factory.mktemp("packing") / f"{kind}-{shape}"
            network.save_pretrained(made[kind, shape])
    return made


def encoder(monkeypatch, folder, pooling: str, packed: bool) -> SentenceEncoder:
    with monkeypatch.context() as patch:
        if not packed:
            patch.setattr(packing, "MODELS", set())
        return SentenceEncoder(folder, pooling)


def batch(kind: str, lengths: list[int]) -> tuple[torch.Tensor, torch.Tensor]:
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    ids = torch.randint(5, 200, mask.shape, generator=torch.Generator().manual_seed(0))
    return ids.masked_fill(~mask, KINDS[kind][2]), mask.long()


@pytest.mark.parametrize("shape", ["base", "large"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("pooling", POOLINGS)
def test_vectors_and_gradients_are_those_of_the_padded_forward(monkeypatch, folders, kind, shape, pooling):
    ids, mask = batch(kind, [7, 2, 12, 5, 1])
    gradients, vectors = [], []
    for packed in (True, False):
        model = encoder(monkeypatch, folders[kind, shape], pooling, packed).eval()
        found = model(ids, mask)
        (found**3).sum().backward()
        vectors.append(found.detach())
        gradients.append({name: part.grad for name, part in model.named_parameters()})
    torch.testing.assert_close(*vectors, atol=1e-5, rtol=1e-5)
    ours, theirs = gradients
    largest = max(part.abs().max() for part in theirs.values() if part is not None)
    for name, part in theirs.items():
        assert (ours[name] is None) == (part is None)
        if part is not None:
            assert (ours[name] - part).abs().max() < 1e-5 * largest, name


@pytest.mark.parametrize("pooling", ["cls", "avg"])
def test_dropout_has_the_same_law(monkeypatch, folders, pooling):
    """Mean and variance of every entry of two sentences, one padded to thrice its length, over 6,000 draws of each."""
    ids, mask = batch("bert", [3, 9])
    draws = 3000
    ids, mask = ids.repeat(draws, 1), mask.repeat(draws, 1)
    moments = []
    for packed in (True, False):
        torch.manual_seed(packed)
        model = encoder(monkeypatch, folders["bert", "small"], pooling, packed).train()
        with torch.no_grad():
            found = torch.cat([model(ids, mask) for _ in range(2)]).unflatten(0, (2 * draws, 2)).double()
        moments.append((found.mean(0), found.var(0)))
    (mean, variance), (wanted, spread) = moments
    assert spread.min() > 1e-4  # dropout is on
    # standard errors of two means; a variance of n draws varies by about sqrt(2 / n) of itself, kurtosis aside
    assert ((mean - wanted).abs() / (2 * spread / (2 * draws)).sqrt()).max() < 5
    assert (variance / spread - 1).abs().max() < 0.2
    assert abs((variance / spread).mean() - 1) < 0.03


def test_a_view_differs_from_its_twin_and_repeats_with_the_seed(monkeypatch, folders):
    ids, mask = batch("bert", [6, 6, 11])
    model = encoder(monkeypatch, folders["bert", "small"], "cls", True).train()
    torch.manual_seed(3)
    one, two = model(ids, mask), model(ids, mask)
    torch.manual_seed(3)
    assert torch.equal(model(ids, mask), one)
    assert not torch.allclose(one, two)


def test_a_checkpoint_is_an_ordinary_folder(monkeypatch, folders, tmp_path):
    from transformers import AutoModel

    class NoTokenizer:
        model_max_length = 32

        def save_pretrained(self, folder):
            pass

    model = encoder(monkeypatch, folders["bert", "small"], "cls", True).eval()
    save(model, NoTokenizer(), tmp_path)
    assert packing.ATTENTION not in (tmp_path / "config.json").read_text()
    ids, mask = batch("bert", [4, 8])
    loaded = AutoModel.from_pretrained(tmp_path).eval()
    torch.testing.assert_close(loaded(ids, mask).last_hidden_state[:, 0], model(ids, mask), atol=1e-6, rtol=1e-5)
