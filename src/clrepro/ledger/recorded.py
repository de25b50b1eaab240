"""What a run recorded of what a figure plots: evaluations, statistics, histograms, test scores."""

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase

from clrepro import modalities
from clrepro.catalogue import Figure
from clrepro.ledger.records import Records
from clrepro.ledger.scores import score_of_run
from clrepro.modalities.run import Run


def rows_of(run: Run, figure: Figure, records: Records) -> Iterator[tuple[int, str, float | None, float]]:
    """(step, statistic, bin, value) of a run: evaluations, statistics, the selected checkpoint, its test scores.

    A test score is named kind/task and in percent, as in the tables; it belongs to the step of the checkpoint that
    STS-B dev selected, 0 for an untrained encoder. Of histograms the last step's are kept: bin is the middle of a
    bin, and the value the share of all that fell into it. The numbers of a picture stand in their order, bin counting
    from 0. A run without a record has no rows.
    """
    record = records.record(run)
    if record is None:
        return
    recorded = (records.statistics(run) if run.has_statistics else None) or {"rows": []}
    selected = record.get("best_step", 0)
    rows = [(entry["step"], name, value) for entry in record.get("history", []) for name, value in entry.items()]
    rows += recorded["rows"]
    if "best_score" in record:
        rows.append((selected, "best_stsb_dev", record["best_score"]))
    for step, name, value in rows:
        if name != "step" and matches(name, figure.statistics or ("*",)):
            yield step, name, None, value
    histograms = [part for part in recorded.get("histograms", []) if matches(part["statistic"], figure.histograms)]
    for part in histograms:
        if part["step"] == max(other["step"] for other in histograms):
            width, total = (part["high"] - part["low"]) / len(part["counts"]), sum(part["counts"])
            for place, count in enumerate(part["counts"]):
                yield part["step"], part["statistic"], part["low"] + (place + 0.5) * width, count / max(total, 1)
    for name in figure.scores:
        value = score_of_run(run, name, records)
        if value is not None:
            yield selected, name, None, value
    for kind in figure.pictures:
        for name, values in (records.arrays(run, modalities.evaluation_of(kind)) or {}).items():
            for place, value in enumerate(values):
                yield selected, name, place, value


def matches(name: str, patterns: Iterable[str]) -> bool:
    return any(fnmatchcase(name, pattern) for pattern in patterns)
