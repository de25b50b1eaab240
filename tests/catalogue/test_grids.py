"""The papers' grids of hyperparameters."""

from clrepro import config as configuration
from clrepro.catalogue import Catalogue


def test_grids_are_priced_but_not_run_unless_asked(paper_scale):
    assert not paper_scale.grids
    assert len(paper_scale.grid("nie2023/L_dcl+@BERT_base")) == 11 * 4 * 4
    raw = configuration.read(configuration.ROOT / "config/paper.yaml")
    asked = Catalogue(configuration.parse({**raw, "grids": ["nie2023/L_cl@BERT_base"]}))
    grid = asked.grids["nie2023/L_cl@BERT_base"]
    assert len(grid) == 3 * 4 * 4
    # at a scale that overrides batch and learning rate the grid still varies them
    assert len(Catalogue(configuration.load("demo")).grid("nie2023/L_cl@BERT_base")) == 3 * 4 * 4
    # one grid point is the paper's own setting: trained once
    assert len(asked.runs) == len(paper_scale.runs) + len(grid) - 1
