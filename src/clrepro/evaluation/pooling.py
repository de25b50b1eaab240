"""Poolings: how a transformer's hidden states become one vector a sentence. All names of poolings are listed here.

This module imports no torch, so that settings can be checked against the names without it.
"""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from torch import Tensor

# of sentence encoders that are trained here: those that a configuration may choose, which sentence-transformers can
# load as well, and all that a recipe may name
Loadable = Literal["cls", "avg"]
Pooling = Literal["cls", "avg", "avg_first_last", "avg_embeddings_last"]
# of any transformers model; SimCSE's names differ in two of them
POOLINGS = {
    "cls": "the last layer's first token (SimCSE's cls_before_pooler: unsupervised models)",
    "pooler": "the same through the checkpoint's pooler, a linear layer and tanh (SimCSE's cls: supervised models)",
    "avg": "the mean over the last layer's tokens",
    "avg_top2": "the mean over the tokens of the last two layers",
    "avg_first_last": "the mean over the tokens of the first layer and the last (SimCSE since 2022)",
}


def needs_all_layers(pooling: str) -> bool:
    """Whether `pool` needs the hidden states of all layers, not only those of the last."""
    return pooling.startswith("avg_")


def pool(hidden: "tuple[Tensor, ...]", mask: "Tensor", pooling: str) -> "Tensor":
    """Sentence vectors (B, D) from hidden states (layers + 1 tensors (B, T, D)) and the mask (B, T).

    cls: the last layer's first token, before any pooler. avg: mean over the last layer's tokens; avg_top2: over those
    of the last two. avg_first_last: mean over the tokens of the first transformer layer and the last (SimCSE since
    2022); avg_embeddings_last: the embedding layer in place of the first (Nie's copy of the evaluation code).
    """
    if pooling == "cls":
        return hidden[-1][:, 0]
    if pooling == "avg":
        states = hidden[-1]
    else:
        other = {"avg_top2": -2, "avg_first_last": min(1, len(hidden) - 1), "avg_embeddings_last": 0}[pooling]
        states = (hidden[other] + hidden[-1]) / 2
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1)
