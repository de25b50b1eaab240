"""What a figure's csv takes of a run's records."""

from types import SimpleNamespace

from clrepro.ledger import recorded

HISTOGRAMS = [
    {"step": 4, "statistic": "cosine", "low": -1.0, "high": 1.0, "counts": [5, 5]},
    {"step": 8, "statistic": "cosine", "low": -1.0, "high": 1.0, "counts": [0, 1, 0, 0]},
    {"step": 8, "statistic": "empty", "low": 0.0, "high": 4.0, "counts": [0, 0]},
    {"step": 8, "statistic": "not asked for", "low": 0.0, "high": 1.0, "counts": [1]},
]
RECORD = {"best_step": 4, "best_score": 0.7, "history": [{"step": 4, "score": 0.7, "rate": 0.1}]}


def rows(record, statistics=("score", "train_*"), histograms=("cosine", "empty")):
    kept = {"rows": [[0, "train_loss", 3.0], [8, "train_loss", 2.0], [8, "dev_loss", 9.0]], "histograms": HISTOGRAMS}
    records = SimpleNamespace(record=lambda run: record, statistics=lambda run: kept)
    figure = SimpleNamespace(statistics=statistics, histograms=histograms, scores=(), pictures=())
    return list(recorded.rows_of(SimpleNamespace(has_statistics=True), figure, records))


def test_statistics_that_a_figure_asks_for_and_the_last_step_s_histograms_as_shares():
    assert rows(RECORD) == [
        (4, "score", None, 0.7), (0, "train_loss", None, 3.0), (8, "train_loss", None, 2.0),
        (8, "cosine", -0.75, 0.0), (8, "cosine", -0.25, 1.0), (8, "cosine", 0.25, 0.0), (8, "cosine", 0.75, 0.0),
        (8, "empty", 1.0, 0.0), (8, "empty", 3.0, 0.0),
    ]  # fmt: skip


def test_a_figure_that_names_no_statistics_takes_all():
    names = [name for _, name, _, _ in rows(RECORD, statistics=(), histograms=())]
    assert names == ["score", "rate", "train_loss", "train_loss", "dev_loss", "best_stsb_dev"]
    best = rows(RECORD, statistics=("best_stsb_dev",), histograms=())
    assert best == [(4, "best_stsb_dev", None, 0.7)]


def test_scores_belong_to_the_step_of_the_checkpoint_and_to_0_where_nothing_was_trained(monkeypatch):
    monkeypatch.setattr(recorded, "score_of_run", lambda run, name, records: {"svm/accuracy": 71.5}.get(name))
    figure = SimpleNamespace(
        statistics=("none",), histograms=(), scores=("svm/accuracy", "not there"), pictures=("spectrum",)
    )
    monkeypatch.setattr(recorded.modalities, "evaluation_of", lambda kind: kind)
    for record, step in ((RECORD, 4), ({"history": []}, 0)):
        records = SimpleNamespace(
            record=lambda run, record=record: record, arrays=lambda run, about: {"values": [3.0, 1.0]}
        )
        found = list(recorded.rows_of(SimpleNamespace(has_statistics=False), figure, records))
        assert found == [(step, "svm/accuracy", None, 71.5), (step, "values", 0, 3.0), (step, "values", 1, 1.0)]


def test_a_run_without_a_record_has_no_rows():
    assert rows(None) == []
