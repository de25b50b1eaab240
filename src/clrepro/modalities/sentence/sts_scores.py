"""STS of stored embeddings."""

from typing import Any

from clrepro.evaluation.senteval.sts import evaluate_sts
from clrepro.modalities.sentence.stored import Stored


def evaluate(stored: Stored, protocol: None, kinds: list[str]) -> dict[str, Any]:
    """All STS tasks, whichever are asked."""
    rows = evaluate_sts(stored.vectors, stored.sentences, stored.root)
    return {"tasks": stored.tasks, "rows": [[*row[:3], round(row[3], 6)] for row in rows]}
