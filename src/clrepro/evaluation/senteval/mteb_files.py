"""STS scores as MTEB's result files, one a task: what its ResultCache loads and its leaderboard shows.

MTEB's tasks of these names have the same pairs; its SICK-R has those of all three splits in one test split. It has no
task with the protocol of SentEval's transfer tasks.
"""

import time
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from clrepro.evaluation.senteval.pairs import SPLITS, STS_SUBSETS, STS_TASKS
from clrepro.evaluation.senteval.similarity import pearson, spearman
from clrepro.evaluation.senteval.sts import Similarities
from clrepro.paths import write_json

NAMES = {task: task for task in STS_TASKS} | {"SICKRelatedness": "SICK-R"}
NO_REVISION = "no_revision_available"  # MTEB's words
# what MTEB's description of a model holds besides its name and revision; it asks for no more than these two
UNKNOWN = (
    *("release_date", "languages", "n_parameters", "memory_usage_mb", "max_tokens", "embed_dim", "license"),
    *("open_weights", "public_training_code", "public_training_data", "similarity_fn_name", "use_instructions"),
    *("training_datasets", "loader"),
)


def pairs_of(found: Similarities) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """{MTEB's name: cosines (n,) and gold scores (n,) of its test split}, of the tasks that were evaluated whole."""
    parts = {task: [(task, "test", subset) for subset in subsets] for task, subsets in STS_SUBSETS.items()}
    parts["STSBenchmark"] = [("STSBenchmark", "test", "")]
    parts["SICKRelatedness"] = [("SICKRelatedness", split, "") for split in SPLITS]
    return {
        NAMES[task]: tuple(np.concatenate(column) for column in zip(*(found[key] for key in keys), strict=True))
        for task, keys in parts.items()
        if all(key in found for key in keys)
    }


def scores(cosines: np.ndarray, gold: np.ndarray) -> dict[str, object]:
    """MTEB's scores, -1 to 1, as it rounds them; those by Euclidean and Manhattan distance are not computed here."""
    linear, ordered = round(pearson(cosines, gold), 6), round(spearman(cosines, gold), 6)
    values = {"pearson": linear, "spearman": ordered, "cosine_pearson": linear, "cosine_spearman": ordered}
    return {**values, "main_score": ordered, "hf_subset": "default", "languages": ["eng-Latn"]}


def write(found: Similarities, folder: Path, model: str, revision: str | None, data: str) -> list[Path]:
    """folder/results/<model>/<revision>/<task>.json, and model_meta.json beside them; the tasks' files are returned.

    data: where the pairs come from, a source as name@revision or a folder. MTEB's version stays null: it computed
    nothing.
    """
    revision = revision or NO_REVISION
    place = folder / "results" / model.replace("/", "__").replace(" ", "_") / revision
    written = []
    for task, arrays in pairs_of(found).items():
        content: Mapping[str, object] = {
            "dataset_revision": data,
            "task_name": task,
            "mteb_version": None,
            "scores": {"test": [scores(*arrays)]},
            "evaluation_time": None,
            "kg_co2_emissions": None,
            "date": time.time(),
        }
        write_json(place / f"{task}.json", content)
        written.append(place / f"{task}.json")
    if written:
        about = {"name": model, "revision": revision, "framework": [], **dict.fromkeys(UNKNOWN)}
        write_json(place / "model_meta.json", about)
    return written
