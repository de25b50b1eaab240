"""Pre-training on molecules."""

from functools import partial

import numpy as np
import pytest
import torch

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.graph.molecules.encoder import load
from clrepro.modalities.graph.molecules.training import MoleculeWorkload
from clrepro.modalities.graph.workload import train_encoder
from clrepro.objectives import make
from tests.modalities.graph.molecules.drawn import SMILES, stored
from tests.oracles import molecules as oracle
from tests.stop import Stop

SETTINGS = {
    "augmentation": "random2", "behaviour": "released", "drop_share": 0.2, "subgraph_share": 0.2,
    "order": "every_epoch", "identical_views": False, "optimiser": "adam", "learning_rate": 1e-3, "weight_decay": 0.0,
    "schedule": "constant", "epochs": 2, "batch_size": 5, "clip": None, "precision": "fp32",
}  # fmt: skip
ENCODER = {"architecture": "gin_bonds", "width": 8, "layers": 2}
CPU = torch.device("cpu")


def molecules(count=3):
    return stored([oracle.molecule_from_smiles(text) for text in SMILES] * count)


def workload(**changes):
    torch.manual_seed(0)
    return MoleculeWorkload(molecules(), ENCODER, {**SETTINGS, **changes}, seed=1)


def test_every_epoch_shows_all_molecules_in_an_order_of_its_own():
    made = workload()
    epochs = [np.concatenate([made.rows_of(6 * epoch + step)[1] for step in range(6)]) for epoch in range(2)]
    assert all(sorted(part) == list(range(30)) for part in epochs)
    assert epochs[0].tolist() != epochs[1].tolist()
    once = workload(order="once")
    assert once.rows_of(0)[1].tolist() == once.rows_of(6)[1].tolist() == epochs[0][:5].tolist()
    alone = workload(batch_size=29)  # a last batch of one molecule is left out
    assert (alone.steps_per_epoch, alone.steps, alone.smallest_batch) == (1, 2, 29)


def test_identical_views_share_their_draws_and_others_do_not():
    (same,), (other,) = (
        made.terms(made.model.train(), 3, CPU) for made in (workload(identical_views=True), workload())
    )
    assert torch.equal(same[0], same[1])
    assert torch.equal(same[0], other[0])
    assert not torch.allclose(other[0], other[1])


def test_a_training_ends_in_the_same_weights_after_a_stop(tmp_path):
    objective = make("macl", None, base_temperature=0.1, alpha=0.5, alignment_threshold=0.0, negatives="cross")

    def train(name, stop):
        start = partial(MoleculeWorkload, molecules(), ENCODER, SETTINGS, 3)
        return train_encoder(start, objective, SETTINGS, 3, device="cpu", state=tmp_path / name, stop=stop)

    result = train("whole", Stop())
    assert (result["steps"], result["best_step"]) == (12, 12)
    with pytest.raises(Interrupted, match="stopped at step 5 of 12"):
        train("parts", Stop(5))
    assert train("parts", Stop())["history"] == result["history"]
    weights = [load(tmp_path / name / "best-12").state_dict() for name in ("whole", "parts")]
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])


def test_a_batch_larger_than_the_data_is_refused():
    with pytest.raises(UserError, match=r"batch_size 64 is larger than the 30 examples; set `graph\.molecules"):
        workload(batch_size=64)
