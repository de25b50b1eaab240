"""Sets of graphs in the text format of the TU collection: <name>_A.txt, _graph_indicator, _graph_labels, _node_labels.

Node attributes and labels of edges are left unread, as GraphCL drops them (Shen-Lab/GraphCL, unsupervised_TU/aug.py).
"""

import io
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd

from clrepro.errors import UserError
from clrepro.modalities.graph.graph_sets import GraphSet


def read(file: Path, about: dict) -> GraphSet:
    """The set of graphs in a zip archive, checked against what is known of it.

    about: `prefix` of the files' names; `node_labels`, whether they are the features (else a constant); and the
    numbers `graphs`, `nodes`, `edges` (directed, each once), `width` of the features, `classes`: label and its graphs.
    UserError names the file and what differs.
    """
    prefix = about["prefix"]
    try:
        with zipfile.ZipFile(file) as archive:
            edges = table(archive, file, prefix, "A", 2)
            indicator = table(archive, file, prefix, "graph_indicator", 1)[:, 0]
            answers = table(archive, file, prefix, "graph_labels", 1)[:, 0]
            kinds = table(archive, file, prefix, "node_labels", 1)[:, 0] if about["node_labels"] else 0 * indicator
    except zipfile.BadZipFile as failure:
        raise UserError(f"{file} is not a complete zip archive ({failure}); fetch it again") from None
    known = dict(zip(*(part.tolist() for part in np.unique(answers, return_counts=True)), strict=True))
    edges = np.unique(edges - 1, axis=0)  # some files list every edge twice
    edges = edges[edges[:, 0] != edges[:, 1]].T
    found = {"graphs": len(answers), "nodes": len(indicator), "edges": edges.shape[1], "classes": known}
    found["width"] = int(kinds.max() - kinds.min() + 1)
    for name, value in found.items():
        if value != about[name]:
            raise UserError(f"{file}: {value} {name} where {prefix} has {about[name]}; it is another set, or damaged")
    if len(kinds) != len(indicator) or np.any(np.diff(indicator) < 0) or indicator[-1] != len(answers):
        raise UserError(f"{file}: the lines of {prefix}_graph_indicator.txt do not belong to those of its other files")
    if edges.min() < 0 or edges.max() >= len(indicator) or np.any(np.diff(indicator[edges], axis=0)):
        raise UserError(f"{file}: {prefix}_A.txt has edges between different graphs")
    sizes = np.bincount(indicator - 1, minlength=len(answers))
    labels = np.searchsorted(np.unique(answers), answers)
    return GraphSet.made(sizes, kinds - kinds.min(), edges, labels, found["width"])


def table(archive: zipfile.ZipFile, file: Path, prefix: str, part: str, columns: int) -> np.ndarray:
    """The integers of one text file: (lines, columns)."""
    name = f"{prefix}_{part}.txt"
    member = next((one for one in archive.namelist() if Path(one).name == name), None)
    if member is None:
        raise UserError(f"{file} holds no {name}")
    try:
        found = pd.read_csv(io.BytesIO(archive.read(member)), header=None, dtype=np.int64).to_numpy()
    except (ValueError, pd.errors.ParserError) as failure:
        raise UserError(f"{file}: {name} is damaged: {failure}") from None
    if found.shape[1] != columns:
        raise UserError(f"{file}: {name} has {found.shape[1]} numbers a line where {columns} belong")
    return found
