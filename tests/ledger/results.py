"""Result files of a finished run, written by hand."""

from clrepro.paths import write_json


def finish(run, scores: dict[str, float], curve: list[float]) -> None:
    """Leave the files of a finished run: STS test scores as fractions, and STS-B dev over its steps."""
    history = [{"step": 10 * number, "stsb_dev": value} for number, value in enumerate(curve, 1)]
    record = {"identity": run.identity, "seed": run.seed, "code": run.code, "history": history}
    write_json(run.record, {**record, "best_step": 10, "best_score": max(curve)})
    write_json(run.folder / "statistics.json", {"rows": [], "histograms": []})
    rows = [[task, "test", "spearman_all" if task.startswith("STS1") else "spearman", v] for task, v in scores.items()]
    write_json(run.folder / "sts.json", {"rows": rows})


TASKS = ("STS12", "STS13", "STS14", "STS15", "STS16", "STSBenchmark", "SICKRelatedness")
