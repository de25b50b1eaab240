"""Encoders that are functions of one's own, by ``module:name`` or called by the drop-in for SentEval."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from tqdm import tqdm

from clrepro.errors import UserError
from clrepro.own_code import load, pick

BATCH = 128  # sentences of a call, SentEval's batch


def is_own(name: str) -> bool:
    """Whether this is ``module:name`` or ``file.py:name``; no folder and no hub name has a colon with a name behind."""
    place, colon, attribute = name.rpartition(":")
    return bool(colon and place and attribute.isidentifier())


def own_encoder(name: str) -> Callable[[list[str]], np.ndarray]:
    """``module:name`` as an encoder that asks the function for BATCH sentences a time."""
    place, _, attribute = name.rpartition(":")
    function = pick(load(place), attribute, place)
    if not callable(function):
        raise UserError(f"{name} is {function!r}, which cannot be called as {attribute}(sentences)")
    return lambda sentences: in_turns(function, sentences, BATCH, name, "embed")


def in_turns(
    function: Callable[[list], Any], sentences: Sequence[str], size: int, name: str, title: str = ""
) -> np.ndarray:
    """Vectors (n, D) float32 of sentences, ``size`` a call, the longest first, so that little is padded.

    function: a list of sentences -> (n, D) as an array, nested lists or a tensor on any device. name: whose errors
    these are.
    """
    order = sorted(range(len(sentences)), key=lambda row: -len(sentences[row].split()))
    vectors = None
    for start in tqdm(range(0, len(order), size), title, unit="batch", leave=False, disable=None if title else True):
        rows = order[start : start + size]
        found = as_array(function([sentences[row] for row in rows]), name)
        if found.ndim != 2 or len(found) != len(rows) or (vectors is not None and found.shape[1] != vectors.shape[1]):
            width = "D" if vectors is None else vectors.shape[1]
            raise UserError(
                f"{name} returned {found.shape} for {len(rows)} sentences, expected ({len(rows)}, {width}): a row each"
            )
        if vectors is None:
            vectors = np.empty((len(sentences), found.shape[1]), np.float32)
        vectors[rows] = found
    return np.empty((0, 0), np.float32) if vectors is None else vectors


def as_array(found: Any, name: str) -> np.ndarray:
    if hasattr(found, "detach"):  # a tensor: perhaps on a GPU, in half precision, with a gradient
        found = found.detach().float().cpu().numpy()
    try:
        return np.asarray(found, np.float32)
    except (TypeError, ValueError) as failure:
        raise UserError(f"{name} returned a {type(found).__name__} that is no array (n, D): {failure}") from failure
