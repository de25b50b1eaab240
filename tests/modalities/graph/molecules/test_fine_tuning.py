"""Fine-tuning on molecules: loss and score, an interruption, what it learns."""

import numpy as np
import pytest
import torch

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.graph.molecules.encoder import MoleculeEncoder
from clrepro.modalities.graph.molecules.fine_tuning import Classifier, fine_tune, logits_of, loss_of, roc_auc
from tests.modalities.graph.molecules.drawn import SMILES, stored
from tests.oracles import golden_graphs as golden
from tests.oracles import molecules as oracle
from tests.stop import Stop

HOW = {"epochs": 3, "batch_size": 4, "learning_rate": 0.01, "dropout": 0.5}
RINGS = np.array([[1 if "1" in text else -1, -1 if "N" in text else 1] for text in SMILES], np.int8)


def molecules(copies=1):
    labels = np.tile(RINGS, (copies, 1))
    labels[3, 0] = 0
    return stored([oracle.molecule_from_smiles(text) for text in SMILES] * copies, labels)


def model(dropout=0.5, seed=5):
    torch.manual_seed(seed)
    return Classifier(MoleculeEncoder(8, 2), 2, dropout)


def test_loss_and_score_are_the_golden_values():
    labels = torch.tensor(golden.LABELS, dtype=torch.int8)
    assert loss_of(torch.tensor(golden.LOGITS), labels).item() == pytest.approx(golden.CROSS_ENTROPY, abs=1e-6)
    logits, labels = np.array(golden.LOGITS), np.array(golden.LABELS)
    assert roc_auc(logits, labels) == pytest.approx(100 * golden.MEAN_AUC)
    assert [roc_auc(logits[:, [task]], labels[:, [task]]) for task in range(3)] == [50, 75, None]


def test_loss_and_score_are_the_oracles_on_random_labels():
    generator = np.random.default_rng(0)
    for _ in range(20):
        labels, logits = generator.integers(-1, 2, (12, 4)), generator.normal(size=(12, 4)).round(1)
        found = loss_of(torch.tensor(logits), torch.tensor(labels)).item()
        assert found == pytest.approx(oracle.masked_bce(labels, logits), abs=1e-12)
        assert roc_auc(logits, labels) == pytest.approx(100 * oracle.mean_auc(labels, logits), abs=1e-9)
    nothing = loss_of(torch.zeros(2, 3, requires_grad=True), torch.zeros(2, 3))
    assert nothing.item() == 0


@pytest.mark.parametrize("look", [1, 4, 6])
def test_an_interrupted_fine_tuning_ends_in_the_same_weights_to_the_bit(tmp_path, look):
    data, rows = molecules(), np.arange(len(SMILES))
    whole, parts = model(), model()
    losses = fine_tune(whole, data, rows, HOW, 1, tmp_path / "whole", Stop())
    assert len(losses) == 9
    with pytest.raises(Interrupted, match=f"stopped at step {look - 1} of 9; the state is saved"):
        fine_tune(parts, data, rows, HOW, 1, tmp_path / "parts", Stop(look))
    parts = model()
    torch.manual_seed(99)  # of a new process
    assert fine_tune(parts, data, rows, HOW, 1, tmp_path / "parts", Stop()) == losses
    found, expected = parts.state_dict(), whole.state_dict()
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    # a finished one is only read
    again = model()
    assert fine_tune(again, data, rows[:1], {**HOW, "epochs": 9}, 1, tmp_path / "parts", Stop(1)) == losses
    assert all(torch.equal(again.state_dict()[key], expected[key]) for key in expected)
    assert fine_tune(model(), data, rows, HOW, 2, tmp_path / "other", Stop()) != losses


def test_a_classifier_learns_its_labels(tmp_path):
    data, rows = molecules(copies=4), np.arange(4 * len(SMILES))
    made = model(dropout=0.1)
    losses = fine_tune(made, data, rows, {**HOW, "epochs": 20, "batch_size": 8}, 0, tmp_path, Stop())
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert roc_auc(logits_of(made, data, rows), data.labels) > 95


def test_a_batch_of_one_atom_changes_nothing(tmp_path):
    made = model()
    before = {key: value.clone() for key, value in made.state_dict().items()}
    assert fine_tune(made, molecules(), np.array([SMILES.index("C")]), HOW, 0, tmp_path, Stop()) == [0.0] * 3
    assert all(torch.equal(made.state_dict()[key], before[key]) for key in before)


def test_a_loss_that_is_not_finite_is_one_clear_error(tmp_path):
    how = {**HOW, "learning_rate": 1e30}
    with pytest.raises(UserError, match="fine-tuning diverged at step [1-9].*lower `learning_rate`"):
        fine_tune(model(), molecules(), np.arange(len(SMILES)), how, 0, tmp_path, Stop())
