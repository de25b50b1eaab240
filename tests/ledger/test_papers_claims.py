"""The claims of the papers: their references are known, and their quotes are the papers'."""

import re

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.ledger import claim_forms, claims
from clrepro.ledger.quantities import resolver
from clrepro.ledger.records import Records


@pytest.mark.parametrize("paper", papers.paper_keys())
def test_every_reference_of_the_papers_claims_is_known(paper):
    assert claims.check(Catalogue(configuration.load("paper")), paper) > 0


CONTRADICTED = {  # claim: the printed values that lie outside its bounds
    "nie2023": {
        "training_beats_pretrained_transfer": [-0.16],
        "decoupled_match_infonce_on_transfer": [-1.20],
        "dcl_plus_matches_infonce_sts": [-2.89],
        "triplets_beat_decoupled_transfer": [-0.06, -0.38],
    },
    "li2024": {
        "plain_non_contrastive_match_infonce_transfer": [-1.46],
        "modified_match_contrastive_sts": [-1.01],
        "modified_match_contrastive_transfer": [-1.01, -2.49, -2.87, -2.14, -2.52, -2.28, -2.66, -2.16, -2.54],
    },
    "huang2023": {},
    "oar2024": {
        "gain_with_10_percent_of_labels": [0.2437],
        "gain_with_50_percent_of_labels": [0.2868],
        "oar_doubles_accuracy": [-0.0507, -0.1534, -0.176],
        "one_clear_loss_on_cifar100": [-0.0239],
        "oar_doubles_barlow_twins_with_few_labels": [-0.0184],
    },
}


@pytest.mark.parametrize("paper", CONTRADICTED)
def test_a_claim_quotes_a_sentence_and_says_where_the_printed_numbers_contradict_it(paper, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    resolve, found = resolver(Catalogue(configuration.load("paper")), paper, Records()), {}
    for claim in claim_forms.load(paper):
        assert 15 < len(claim.quote) < 300, claim.name
        assert ". " not in claim.quote.replace("... ", ""), claim.name  # a sentence at most
        assert re.match("abstract|section|appendix|caption", claim.place), claim.name
        for part in claim.parts:
            printed = claims.gather(part, claims.look_up(claim, part, resolve)).published
            if part.decides and printed is not None and part.margin(printed) <= 0:
                found.setdefault(claim.name, []).append(round(printed, 4))
                assert "the paper's" in claim.note.lower(), claim.name
    assert found == CONTRADICTED[paper]
