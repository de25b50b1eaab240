"""Verdicts in words: their kinds, their meanings, their order, and the sentences that answer what reproduced."""

from collections import Counter

from clrepro.ledger.verdicts import CLAIM_VERDICTS

CELL_VERDICTS = (
    "reproduced",
    "differs",
    "undecided",
    "not comparable",
    "published value doubtful",
    "missing",
    "not a result",
)
# A verdict's kind chooses its sign and colour; its word always stands beside them.
KINDS = {
    "reproduced": "good",
    "holds": "good",
    "differs": "bad",
    "fails": "bad",
    "seen": "seen",
    "opposite": "opposite",
    "undecided": "open",
    "not comparable": "other",
    "published value doubtful": "doubt",
    "missing": "none",
}
MEANINGS = {
    "reproduced": "the interval of our mean lies within the tolerance around the published number",
    "differs": "the interval of our mean lies wholly outside that tolerance",
    "undecided": "the seeds at hand do not settle it",
    "not comparable": "measured here, but data, encoder, training or evaluation are not the paper's",
    "published value doubtful": "the paper contradicts itself at this number, so it is no yardstick",
    "missing": "no number of ours; the note says why",
    "not a result": "a setting, a formula, or a number that the paper quotes from elsewhere",
    "holds": "what the paper says is what we find",
    "fails": "what we find contradicts what the paper says",
    "seen": "the runs of this scale show what the paper says; that is no verdict on the paper",
    "opposite": "the runs of this scale show the opposite of what the paper says; that is no verdict on the paper",
}
PHRASES = {  # what one and what several cells, claims or checks do: "12 of the papers' 90 claims hold; 1 fails ..."
    "reproduced": ("is reproduced", "are reproduced"),
    "differs": ("differs", "differ"),
    "undecided": ("is undecided", "are undecided"),
    "not comparable": ("is measured here but not comparable", "are measured here but not comparable"),
    "published value doubtful": ("is doubtful in print", "are doubtful in print"),
    "missing": ("has no run", "have no run"),
    "holds": ("holds", "hold"),
    "near": ("holds with a reservation", "hold with a reservation"),
    "fails": ("fails", "fail"),
    "seen": ("is seen", "are seen"),
    "opposite": ("comes out opposite", "come out opposite"),
}


def kind(verdict: str) -> str:
    """good, bad, near (holds with a reservation), seen, opposite, open, other, doubt, none or plain."""
    return KINDS.get(verdict) or ("near" if verdict.startswith("holds ") else "plain")


def ordered(counts: dict[str, int]) -> dict[str, str]:
    """{verdict: kind} of the verdicts that occur, in one order everywhere; unknown ones come last."""
    known = [*CLAIM_VERDICTS[:4], *CELL_VERDICTS]
    qualified = sorted(verdict for verdict in counts if kind(verdict) == "near")
    others = sorted(set(counts) - set(known) - set(qualified))
    order = [known[0], *qualified, *known[1:], *others]
    return {verdict: kind(verdict) for verdict in order if counts.get(verdict)}


COUNTED = {
    "claims": "of the papers' {} claims",
    "verdicts": "of the papers' {} printed results",
    "theory": "of {} checks of their mathematics",
}


def results(paper: dict) -> dict[str, int]:
    """A paper's verdicts on results: what is not a result is left out."""
    return {verdict: count for verdict, count in paper["verdicts"].items() if verdict != "not a result"}


def answer(page: dict) -> list[tuple[str, dict[str, int]]]:
    """What reproduced: a sentence and its counts, each for claims, numbers and mathematics; none for what is absent."""
    answers = []
    for name, whole in COUNTED.items():
        counted = [results(paper) if name == "verdicts" else paper[name] for paper in page["papers"]]
        counts = dict(sum(map(Counter, counted), Counter()))
        if not counts:
            continue
        merged: dict[str, int] = {}  # in the bars' order; the ways of holding with a reservation are one phrase
        for verdict, sign in ordered(counts).items():
            label = "near" if sign == "near" else verdict
            merged[label] = merged.get(label, 0) + counts[verdict]
        verbs = {label: PHRASES.get(label, (label, label))[count > 1] for label, count in merged.items()}
        (label, count), *others = merged.items()
        sentence = f"{count:,} {whole.format(f'{sum(counts.values()):,}')} {verbs[label]}"
        rest = [f"{count:,} {verbs[label]}" for label, count in others]
        listed = " and ".join([", ".join(rest[:-1]), rest[-1]] if len(rest) > 1 else rest)
        sentence += f"; {listed}." if listed else "."
        if name == "theory" and (misprints := len(corrected(page["theory"]))):
            kinds = "is a misprint" if misprints == 1 else "are misprints"
            sentence += f" {misprints:,} of the failures {kinds} whose corrected form holds."
        answers.append((sentence, counts))
    return answers


def corrected(theory: list[dict]) -> list[dict]:
    """Checks of a printed form that fails where the corrected form of the same statement holds."""
    good = {
        (check["paper"], check["where"], check["statement"])
        for check in theory
        if check["form"] == "corrected" and kind(check["verdict"]) in ("good", "near")
    }
    return [
        check
        for check in theory
        if check["form"] == "printed"
        and check["verdict"] == "fails"
        and (check["paper"], check["where"], check["statement"]) in good
    ]
