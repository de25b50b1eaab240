"""Transfer tasks on stored embeddings."""

from typing import Any

from clrepro.evaluation.senteval.transfer import evaluate_transfer
from clrepro.modalities.sentence.stored import Stored


def evaluate(stored: Stored, protocol: str, kinds: list[str]) -> dict[str, Any]:
    """All transfer tasks by a protocol of SentEval, whichever are asked."""
    rows = evaluate_transfer(stored.vectors, stored.sentences, stored.root, protocol)
    return {
        "tasks": stored.tasks,
        "protocol": [protocol],
        "rows": [[*row[:3], round(row[3], 6)] for row in rows],
    }
