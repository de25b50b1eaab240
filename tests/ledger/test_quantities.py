"""Cells and points of figures as quantities."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue
from clrepro.errors import UserError
from clrepro.ledger.quantities import resolver
from clrepro.ledger.records import Records
from tests.ledger.results import TASKS, finish

# quantities


def test_cells_and_points_of_figures_become_quantities(catalogue):
    cell = catalogue.cells["li2024", "table_3", "BERT_base mMHE", "STS13", "value"]
    for place, run in enumerate(cell.runs):
        finish(run, dict.fromkeys(TASKS, 0.5 + 0.1 * place), [0.1])
    figure = catalogue.figure("li2024/figure_6")
    point = next(one for one in figure.points if one.series == "margin" and one.runs[0].params["margin"] == 0.4)
    finish(point.runs[0], {}, [0.2, 0.9, 0.4])
    resolve = resolver(catalogue, "li2024", Records())
    single = resolve("table_3/BERT_base mMHE/STS13")
    assert single.values == {1: 50.0, 2: 60.0}
    assert (single.published, single.cell) == (84.32, "li2024/table_3/BERT_base mMHE/STS13/value")
    assert single == resolve("table_3/BERT_base mMHE/STS13/value")
    assert single.family != resolve("table_3/BERT_base mMHE/Avg").family != resolve("table_4/BERT_base mMHE/Avg").family
    assert len(single.runs) == 2
    assert not single.comparable
    assert not resolve("figure_6/margin[0.4]/BERT_base/stsb_dev").comparable
    as_printed = resolver(Catalogue(configuration.load("paper")), "li2024", Records())
    assert as_printed("table_3/BERT_base mMHE/STS13").comparable
    assert as_printed("figure_6/margin[0.4]/BERT_base/stsb_dev").comparable
    assert single.runs[0].endswith("seed1")
    of = "figure_6/margin[0.40]/BERT_base/stsb_dev"
    found = [resolve(f"{of}:{how}").values[1] for how in ("last", "first", "mean", "early", "late")]
    assert found == pytest.approx([0.4, 0.2, 0.5, 0.2, 0.4])
    assert resolve(of) == resolve(f"{of}:last")
    assert resolve(of).why == "seed 2 not run yet: snakemake li2024_figure_6 --cores all"
    assert resolve("figure_6/margin[0.4]/BERT_base/best_stsb_dev").values == {1: 0.9}
    assert resolve("figure_6/margin[0.5]/BERT_base/best_stsb_dev").values == {}
    left_out = resolve("figure_8c/baseline[1.0]/BERT_base/heldout_positive_cosine_mean")
    assert left_out.values == {}
    finish(point.runs[1], {}, [0.2, 0.8, 0.3])
    resolve = resolver(catalogue, "li2024", Records())
    assert resolve(of).values == {1: 0.4, 2: 0.3}
    assert resolve(f"{of}:first").values == {None: 0.2}  # of the untrained encoder: no seed changes it
    assert "put li2024/figure_8c under `figures`" in left_out.why
    point.runs[0].record.write_text("{", "utf-8")
    assert "broken" in resolver(catalogue, "li2024", Records())(of).why


# of image encoders and of simulations


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("table_33/BERT_base mMHE/STS13", "unknown table or figure 'table_33'"),
        ("table_3/BERT_base mMHF/STS13", "table_3/BERT_base mMHE/STS13/value"),
        ("figure_6/margins[0.3]/BERT_base/stsb_dev", "unknown series 'margins'"),
        ("figure_6/margin[0.35]/BERT_base/stsb_dev", "no point [0.35]"),
        ("figure_6/margin/BERT_base/stsb_dev", "no point []"),
        ("figure_6/margin[0.3]/BERT_large/stsb_dev", "unknown backbone 'BERT_large'"),
        ("figure_6/margin[0.3]/BERT_base/stsb", "unknown statistic 'stsb'"),
        ("figure_6/margin[0.3]/BERT_base/stsb_dev:median", "unknown reduction 'median'"),
        ("figure_6/margin[0.3]", "is no point of a figure"),
    ],
)
def test_an_unknown_reference_is_named(catalogue, reference, message):
    with pytest.raises(UserError) as failure:
        resolver(catalogue, "li2024", Records())(reference)
    assert message in str(failure.value)
    assert reference in str(failure.value)
