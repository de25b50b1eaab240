"""The encoder of molecules against golden values and the oracle."""

import numpy as np
import pytest
import torch

from clrepro.errors import UserError
from clrepro.modalities.graph.molecules.encoder import Inputs, MoleculeEncoder, dropped, load
from clrepro.modalities.graph.weights import save
from clrepro.objectives import make
from tests.modalities.graph.molecules.drawn import SMILES, everything, golden_model, stored
from tests.oracles import golden_graphs as golden
from tests.oracles import molecules as oracle

CPU = torch.device("cpu")
TOY = [oracle.molecule(*one) for one in golden.MOLECULES]


def test_embeddings_loss_and_gradient_are_the_golden_values():
    model, batch = golden_model(), everything(stored(TOY))
    with torch.no_grad():
        found = model.encoder.eval()(Inputs.of(batch, CPU))
    assert np.allclose(found, golden.MOLECULE_EMBEDDINGS, atol=1e-6)
    kept = np.ones(len(batch.atoms), bool)
    for start, left_out in zip(batch.starts, golden.MOLECULES_LEFT_OUT, strict=False):
        if left_out is not None:
            kept[start + left_out] = False
    model.train()
    views = [model(Inputs.of(one, CPU)) for one in (batch, batch.keep(kept))]
    loss = make("dcl", "released", temperature=0.1, negatives="cross")(*views)
    loss.backward()
    gradient = torch.stack([one.grad.norm() for one in model.encoder.parameters()]).norm()
    assert loss.item() == pytest.approx(golden.MOLECULE_LOSS, abs=1e-6)
    assert gradient.item() == pytest.approx(golden.MOLECULE_GRADIENT, abs=1e-5)


def test_molecules_are_encoded_as_by_the_oracle():
    drawn = [oracle.molecule_from_smiles(text) for text in SMILES]
    expected = oracle.formula_encoder(width=6, layers=3)
    model, inputs = golden_model(6, 3), Inputs.of(everything(stored(drawn)), CPU)
    for training in (True, False):  # the latter with the running statistics of the former
        found = model.encoder.train(training)(inputs)
        assert torch.allclose(found, oracle.encode(expected, drawn, training), atol=1e-12)


def test_dropout_keeps_the_mean_and_acts_in_training_alone():
    values = dropped(torch.ones(2000, 50), 0.25, torch.Generator().manual_seed(0))
    assert values.unique().tolist() == pytest.approx([0, 4 / 3])
    assert values.mean().item() == pytest.approx(1, abs=0.01)
    encoder, inputs = MoleculeEncoder(8, 2), Inputs.of(everything(stored(TOY)), CPU)
    encoder.dropout = 0.5

    def encoded(seed):
        return encoder(inputs, torch.Generator().manual_seed(seed))

    assert torch.equal(encoded(1), encoded(1))
    assert not torch.equal(encoded(1), encoded(2))
    encoder.eval()
    assert torch.equal(encoded(1), encoded(2))


def test_an_encoder_comes_back_from_its_folder(tmp_path):
    encoder, inputs = MoleculeEncoder(8, 2), Inputs.of(everything(stored(TOY)), CPU)
    encoder(inputs)
    save(encoder, tmp_path)
    assert torch.equal(load(tmp_path).eval()(inputs), encoder.eval()(inputs))
    (tmp_path / "model.safetensors").write_bytes(b"cut")
    with pytest.raises(UserError, match="cannot be loaded"):
        load(tmp_path)
