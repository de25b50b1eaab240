"""The papers' statements put to the test: the frame, and verdicts that a hand calculation confirms."""

import importlib
import math

import pytest
import torch

from clrepro import theory
from clrepro.catalogue import papers
from clrepro.errors import UserError
from clrepro.theory import _common as common
from clrepro.theory import nie2023, oar2024

STUDIES = papers.theory(["nie2023", "li2024", "huang2023", "oar2024"])


@pytest.fixture(scope="module")
def frame():
    return theory.check_all(STUDIES)


def verdicts(frame, paper, where, text, form=None):
    """The verdicts of the rows whose statement contains the text."""
    rows = frame[(frame.paper == paper) & (frame["where"] == where) & frame.statement.str.contains(text, regex=False)]
    rows = rows if form is None else rows[rows.form == form]
    assert len(rows), (paper, where, text, form)
    return set(rows.verdict)


def test_the_frame(frame):
    assert tuple(frame.columns) == theory.COLUMNS
    assert set(frame.verdict) == set(theory.VERDICTS)
    assert set(frame.paper) == {"nie2023", "li2024", "huang2023", "oar2024"}
    assert set(frame.form) == {"printed", "corrected", ""}
    assert not frame.duplicated(["paper", "where", "statement", "form"]).any()
    assert (frame[["where", "statement", "checked", "detail"]].map(len) > 0).all(axis=None)
    assert frame.detail.str.contains(r"\d").all()
    documented = theory.__doc__
    assert all(f'"{verdict}"' in documented for verdict in theory.VERDICTS)


def test_a_correction_is_better_than_the_print(frame):
    wide = (
        frame[frame.form != ""].pivot(index=["paper", "where", "statement"], columns="form", values="verdict").dropna()
    )
    wide = wide[~wide.index.get_level_values("statement").str.contains(", normalised")]  # neither form holds there
    assert len(wide) > 25
    assert set(wide.printed) == {"fails"}
    assert set(wide.corrected) <= {"holds", "holds on the tangent plane"}


def test_two_runs_agree_and_no_check_runs_twice(frame):
    assert theory.check_all(STUDIES).equals(frame)
    assert sorted(name for named in STUDIES.values() for name in named) == theory.names()
    checks = [check for name in theory.names() for check in theory.study(name, "").CHECKS]
    assert len(checks) == len(set(checks))


def test_no_check_compares_a_thing_with_itself(monkeypatch):
    compared = []

    def seen(compare):
        def watched(one, other, *rest):
            compared.append((one.data_ptr(), one.stride()) != (other.data_ptr(), other.stride()))
            return compare(one, other, *rest)

        return watched

    monkeypatch.setattr(common, "_errors", seen(common._errors))
    for name in theory.names():
        for function in ("bounded", "decides"):
            if hasattr(module := importlib.import_module(f"clrepro.theory.{name}"), function):
                monkeypatch.setattr(module, function, seen(getattr(module, function)))
    theory.check_all(STUDIES)
    assert len(compared) > 150
    assert all(compared)


def test_a_paper_names_its_studies_or_has_none():
    assert theory.check_all({"mine2026": []}).empty
    with pytest.raises(UserError, match=r"study of theory 'oar2O24' in papers/mine2026/experiments.yaml. Did you mean"):
        theory.check_all({"mine2026": ["oar2O24"]})


def test_nie_bound_needs_the_prime(frame):
    # anchor and its two keys in the plane: h = e1, h' = e2, h_j = -e1, h_j' = e1; N = 2, so that the margin is 0
    tau, positive, other, within = 0.05, 0.0, 1.0, -1.0
    loss = math.log1p(math.exp((other - positive) / tau))
    printed = math.log(2) + max(within - positive, 0) / tau
    corrected = math.log(2) + max(other - positive, 0) / tau
    assert printed < loss <= corrected
    where = "equation (12), second step"
    assert verdicts(frame, "nie2023", where, "bounds the contrastive", "printed") == {"fails"}
    assert verdicts(frame, "nie2023", where, "bounds the contrastive", "corrected") == {"holds"}


def test_nie_constant_of_equation_46(frame):
    # two orthogonal anchors and keys: mean cosine 0, mean squared distance 2
    tau, count, square = 0.05, 2, 2.0
    assert -square / (2 * tau) + 1 / tau == pytest.approx(0)
    assert abs(-square / (2 * tau) + 1 / (2 * tau * count * (count - 1))) > 1
    assert verdicts(frame, "nie2023", "equation (46), last line", "rewrites", "printed") == {"fails"}
    assert verdicts(frame, "nie2023", "equation (46), last line", "rewrites", "corrected") == {"holds"}


def test_nie_limit_is_that_of_dcl_but_of_alignment_only_up_to_a_factor(frame):
    tau, theta = 0.05, 0.7
    dcl, align = (
        math.sin(theta) / tau,
        {a: a * (2 * math.sin(theta / 2)) ** (a - 2) * math.sin(theta) for a in (1, 2, 3)},
    )
    assert dcl / align[2] == pytest.approx(1 / (2 * tau)) == pytest.approx(10)
    found = {a: verdicts(frame, "nie2023", "section 3.2", f"alpha = {a}") for a in align}
    assert found == {1: {"fails"}, 2: {"holds up to a factor"}, 3: {"fails"}}
    assert verdicts(frame, "nie2023", "section 3.2", "the decoupled loss") == {"holds"}
    row = frame[(frame["where"] == "section 3.2") & frame.statement.str.contains("alpha = 2")]
    assert "claimed = 10 x actual" in row.detail.item()


def test_li_condition_and_lemma(frame):
    # MET, positive at 0.1, nearest negative at 1.5: the hinge of margin 0.45 is off, the printed condition true
    hinge = 0.1 - 1.5 + 0.45
    assert hinge < 0
    assert 0.1 - 1.5 < 0.45
    assert verdicts(frame, "li2024", "appendix D.1", "condition", "printed") == {"fails"}
    assert verdicts(frame, "li2024", "appendix D.1", "condition", "corrected") == {"holds"}
    # p = (1, 0), n = (0, 0.5), lambda = 1: r = 3 is above the lower bound and overshoots
    lower, upper = 1 - math.sqrt(1 - 0.25), 1 + math.sqrt(1 - 0.25)
    assert 3 > upper > lower
    assert math.hypot(3 - 1, 0.5) > 1
    assert verdicts(frame, "li2024", "lemma 1", "every r above the lower bound", "printed") == {"fails"}
    assert verdicts(frame, "li2024", "lemma 1", "and no other", "corrected") == {"holds"}


def test_macl_is_not_monotone(frame):
    def factor(tau):
        negatives = math.exp(0.9 / tau) + 15
        return negatives / (math.exp(0.5 / tau) + negatives)

    assert factor(0.05) > 0.999
    assert factor(0.305) < 0.87
    assert factor(1e6) == pytest.approx(16 / 17, abs=1e-6)
    for text in ("monotonically", "from above", "from below"):
        assert verdicts(frame, "huang2023", "proposition 2", text, "printed") == {"fails"}
    assert verdicts(frame, "huang2023", "proposition 2", "tends to K/(K+1)") == {"holds"}
    detail = frame[frame.statement.str.contains("monotonically")].detail.item()
    assert "smallest 0.8688 at tau 0.305" in detail


def test_collapse_is_a_saddle(frame):
    # two pairs in the plane, each moved as one, by angles of 0.1 to either side; four anchors
    for tau in oar2024.TEMPERATURES:
        moved = 4 * math.log1p(2 * math.exp((math.cos(0.2) - 1) / tau))
        assert moved < 4 * math.log(3)
    assert verdicts(frame, "oar2024", "theorem 3.1", "equal embeddings are a stationary") == {"holds"}
    assert verdicts(frame, "oar2024", "theorem 3.1", "equal embeddings are a local minimum") == {"fails"}
    # two opposite pairs have the largest positive and the smallest negative cosines that there are
    for pairs, verdict in ((2, "holds"), (3, "fails"), (4, "fails")):
        assert verdicts(frame, "oar2024", "theorem 3.1", f"pattern of {pairs} pairs") == {verdict}


def test_comparisons_can_fail():
    x = torch.linspace(1, 2, 7, dtype=torch.float64)
    nan = torch.full_like(x, math.nan)
    assert common.equal(x, x * (1 + 1e-13)).verdict == "holds"
    assert common.equal(3 * x, x).verdict == "holds up to a factor"
    assert common.equal(x**2, x).verdict == "fails"
    assert common.equal(torch.full_like(x, 2.0), torch.ones_like(x)).verdict == "fails"  # one number, not a factor
    assert common.equal(nan, x).verdict == common.equal(x, nan).verdict == "fails"
    assert common.bounded(x, x + 1).verdict == common.bounded(x, x).verdict == "holds"
    assert common.bounded(x, x.flip(0)).verdict == common.bounded(x, nan).verdict == "fails"
    assert common.decides(x > 1.5, x > 1.5).verdict == "holds"
    assert common.decides(x > 1.4, x > 1.5).verdict == "fails"
    pole, slope = torch.tensor([[0.0, 0.0, 1.0]]).double(), torch.tensor([[1.0, 2.0, 3.0]]).double()
    assert common.equal_gradients(slope, slope, pole).verdict == "holds"
    assert common.equal_gradients(slope - 5 * pole, slope, pole).verdict == "holds on the tangent plane"
    assert common.equal_gradients(slope.flip(1), slope, pole).verdict == "fails"


def test_a_wrong_loss_or_a_true_minimum_changes_the_verdicts(monkeypatch):
    right = {check.outcome.verdict for check in nie2023.alignment_norms() if check.where == "equation (9)"}
    monkeypatch.setattr(nie2023, "decoupled", lambda s: -(common.diagonal(s) ** 3) / nie2023.TAU)
    wrong = {check.outcome.verdict for check in nie2023.alignment_norms() if check.where == "equation (9)"}
    assert (right, wrong) == ({"holds"}, {"fails"})

    def spread(z, tau):  # equal embeddings are its minimum
        rows = common.unit(z)
        return (rows - rows.mean(-2, keepdim=True)).square().sum((-2, -1)) / tau

    monkeypatch.setattr(oar2024, "infonce", spread)
    found = {check.statement: check.outcome.verdict for check in oar2024.theorem_3_1_point()}
    assert found["equal embeddings are a local minimum of InfoNCE"] == "holds"
    assert found["from equal embeddings the loss falls when each pair moves as one, at every temperature"] == "fails"


def test_what_stops_pulling_where_hangs_on_the_number_of_negatives_for_dcl_plus_alone(frame):
    said = "stops pulling is the same for any number of negatives"
    rows = frame[frame["statement"].str.contains(said)].set_index("statement")
    assert len(rows) == 4
    assert set(rows.index[rows["verdict"].eq("fails")]) == {
        f"the cosine gap at which the truncated decoupled loss {said}"
    }
    gaps = [0.17 * math.log(size - 1) for size in (16, 64, 256)]
    assert f"gaps {gaps[0]:.3f}, {gaps[1]:.3f}, {gaps[2]:.3f}" in rows[rows["verdict"].eq("fails")]["detail"].item()
