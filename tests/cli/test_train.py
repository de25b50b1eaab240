"""clrepro train."""

import pytest

from clrepro.cli.train import train
from clrepro.errors import UserError


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (dict(objective="mett"), "unknown objective 'mett'.*Did you mean met"),
        (dict(objective="met", seed=7), "unknown seed '7'.*Known: 42, 43"),
        (dict(objective="met", backbone="BERT_bas"), "unknown backbone 'BERT_bas'.*Did you mean BERT_base"),
    ],
)
def test_train_names_the_choice_that_matches_no_run(chosen, message):
    nothing = dict(objective=None, backbone=None, seed=None, mirror=None, configfile=None)
    with pytest.raises(UserError, match=message):
        train(scale="demo", evaluate=False, **{**nothing, **chosen})
