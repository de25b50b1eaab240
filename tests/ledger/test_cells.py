"""Cells of the ledger: every published number has one, and what stands beside it."""

from collections import Counter

import pytest

from clrepro import config as configuration
from clrepro import ledger
from clrepro.catalogue import Catalogue
from clrepro.ledger import Records, published
from clrepro.modalities import modality
from tests.finished import finished


def test_every_table_of_the_papers_is_in_the_catalogue_with_a_reason_for_each_hole(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # without results
    catalogue = Catalogue(configuration.load("demo"))
    assert len(catalogue.every_table) == 29
    assert Counter(table.kind for table in catalogue.every_table) == {
        "results": 21, "settings": 5, "formulas": 2, "quoted": 1
    }  # fmt: skip
    frame = ledger.frame(catalogue, Records())
    results = frame[frame["verdict"] != "not a result"]
    assert not frame.duplicated(["paper", "table", "row", "column", "metric"]).any()
    holes = results[results["ours"].isna()]
    assert len(holes) > 200
    assert holes["note"].str.len().min() > 10
    assert set(holes["verdict"]) == {"missing"}
    # every published number has its line
    wanted = published().query("kind not in ['settings', 'quoted']")
    lines = set(zip(frame["paper"], frame["table"], frame["row"], frame["column"], frame["metric"], strict=True))
    for row in wanted.itertuples():
        assert (row.paper, row.table, row.row, row.column, row.metric) in lines


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    """A ledger with results for every run of the demo, figures included; each run has scores of its own."""
    folder = tmp_path_factory.mktemp("everything")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        catalogue = Catalogue(configuration.load("demo"))
        finished(catalogue)
        yield catalogue, ledger.frame(catalogue).set_index(["paper", "table", "row", "column", "metric"])


def test_printed_differences_are_ours_to_the_row_that_they_are_printed_against(everything):
    _, frame = everything
    plus = frame.loc[("li2024", "table_5", "MHE", "+R", "value"), "ours"]
    minus = frame.loc[("li2024", "table_5", "MHE", "original", "value"), "ours"]
    assert frame.loc[("li2024", "table_3", "BERT_base mMHE", "Avg", "delta"), "ours"] == pytest.approx(plus - minus)
    assert frame.loc[("li2024", "table_3_v1", "mMHE", "BERT_base", "delta_sts"), "ours"] == pytest.approx(plus - minus)
    deltas = frame[frame.index.get_level_values("metric").str.startswith("delta")]
    own = deltas[deltas.index.get_level_values("paper") == "li2024"]
    assert own["ours"].notna().all()
    assert (own["ours"].abs() > 0.05).all()
    within = frame.loc[("huang2023", "table_B4", "MACL STS", "Avg", "value"), "ours"]
    below = frame.loc[("huang2023", "table_B4", "SimCSE STS", "Avg", "value"), "ours"]
    assert frame.loc[("huang2023", "table_B4", "MACL STS", "Avg", "delta"), "ours"] == pytest.approx(within - below)


def test_the_ends_of_a_range_are_the_smallest_and_the_largest_difference(everything):
    _, frame = everything
    gains = [
        frame.loc[("nie2023", "table_1", "L_dcl+", backbone, "sts"), "ours"]
        - frame.loc[("nie2023", "table_1", "L_dcl", backbone, "sts"), "ours"]
        for backbone in ("BERT_base", "BERT_large", "RoBERTa_base", "RoBERTa_large")
    ]
    row = ("nie2023", "text", "gain of L_dcl+ over L_dcl on STS (section 4.1)")
    found = [frame.loc[(*row, end, "value"), "ours"] for end in ("low", "high")]
    assert found == pytest.approx([min(gains), max(gains)])
    assert found[0] < found[1] - 0.1
    oar = frame.loc[("oar2024", "text", "gain at 10% labels (section 5.1)", "low", "value")]
    assert (oar["unit"], oar["published"]) == ("fraction", 0.25)


def test_an_encoder_that_no_seed_trains_has_an_exact_number(everything):
    _, frame = everything
    row = frame.loc[("nie2023", "table_1", "Pretrained", "BERT_base", "sts")]
    assert (row["ci_low"], row["ci_high"], row["seeds"]) == (row["ours"], row["ours"], 1)
    trained = frame.loc[("nie2023", "table_1", "L_cl", "BERT_base", "sts")]
    assert trained["ci_low"] < trained["ours"] < trained["ci_high"]


def test_the_nearer_of_two_evaluations_is_named(everything, monkeypatch):
    """`tr` and `tr_dev` stand beside one printed number."""
    from clrepro.ledger import cells
    from clrepro.ledger.scores import Scores

    catalogue, _ = everything
    numbers = {"transfer/Avg": 80.0, "transfer_dev/Avg": 86.0, "sts/Avg": 70.0}
    by_seed = lambda _, cell, __: Scores({1: numbers[cell.score], 2: numbers[cell.score] + 0.1})  # noqa: E731
    monkeypatch.setattr(cells, "scores", by_seed)
    monkeypatch.setattr(Catalogue, "compares", lambda *_: True)
    table = next(table for table in catalogue.tables if (table.paper, table.name) == ("nie2023", "table_1"))
    rows = cells.of_table(catalogue, table).set_index(["row", "column", "metric"])["note"]
    assert "nearest to the published number" in rows["L_cl", "BERT_base", "tr_dev"]
    assert "nearest" not in rows["L_cl", "BERT_base", "tr"]


def test_a_command_is_given_only_where_it_makes_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    asked = {"tables": ["li2024/table_5"], "figures": ["nie2023/figure_1b"]}
    catalogue = Catalogue(configuration.load("demo").model_copy(update=asked))
    frame = ledger.frame(catalogue).set_index(["paper", "table", "row", "column", "metric"])
    assert set(frame["fill"]) == {"", "snakemake li2024_table_5 --cores all", "snakemake all --cores all"}
    # its runs are those of table 5, so all that is asked for makes it; L_cl is trained, but for a figure without scores
    assert frame.loc[("li2024", "table_3", "BERT_base mMHE", "Avg", "delta"), "fill"] == "snakemake all --cores all"
    elsewhere = frame.loc[("nie2023", "table_1", "L_cl", "BERT_base", "sts")]
    assert elsewhere["fill"] == ""
    assert elsewhere["note"] == "not run: nothing that this configuration asks for needs it"
    bench = Catalogue(configuration.load("bench"))
    row = ledger.frame(bench).set_index(["paper", "table", "row", "column", "metric"])["fill"]
    expected = "snakemake nie2023_table_1 --cores all --configfile config/bench.yaml"
    assert row["nie2023", "table_1", "L_cl", "BERT_base", "sts"] == expected


def test_fractions_of_a_paper_are_set_beside_fractions_of_ours(monkeypatch):
    from clrepro.ledger import cells
    from clrepro.ledger.scores import Scores

    catalogue = Catalogue(configuration.load("demo"))
    monkeypatch.setattr(cells, "scores", lambda *_: Scores({1: 68.0, 2: 69.0}))
    monkeypatch.setattr(type(modality("image")), "is_papers_own", lambda *_: True)
    table = next(table for table in catalogue.tables if (table.paper, table.name) == ("oar2024", "table_3"))
    row = cells.of_table(catalogue, table).set_index(["row", "column"]).loc[("OAR-InfoNCE", "10%")]
    assert (row["ours"], row["published"], row["difference"]) == (0.685, 0.6856, -0.0006)
    assert row["verdict"] == "undecided"  # the interval reaches 0.032 to either side, the band 0.01


def test_the_band_around_a_published_number_is_in_points_of_a_percentage_whatever_the_cell_s_unit(
    everything, monkeypatch
):
    catalogue, _ = everything
    rule = catalogue.config.ledger.model_copy(update={"band": 2.0})
    wider, asked = Catalogue(catalogue.config.model_copy(update={"ledger": rule})), []
    monkeypatch.setattr(ledger.cells, "verdict", lambda ours, value, comparable, doubt, band: asked.append(band))
    cells = [cell for table in wider.tables for cell in table.cells]
    for cell in cells:
        ledger.cells.line(wider, cell, Records(), {cell.published_address: (None, None, 2)}, [])
    assert asked == [2.0 * cell.factor for cell in cells]
