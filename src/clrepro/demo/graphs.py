"""Small generated graphs for the demo, as a zip archive in the text format of the TU collection."""

import zipfile
from pathlib import Path

import numpy as np

PREFIX = "DEMO"
GRAPHS = 80
KINDS = 3  # labels of nodes
SEED = 0


def write(file: Path) -> None:
    """Rings and trees are of class 0, stars and cliques of class 1; each graph has labels in shares of its own."""
    generator = np.random.default_rng(SEED)
    pairs, indicator, answers, labels = [], [], [], []
    for number in range(GRAPHS):
        shape = ("ring", "tree", "star", "clique")[number % 4]
        count = int(generator.integers(6, 16))
        offset = len(indicator)
        pairs += [(offset + one, offset + other) for one, other in edges(shape, count, generator)]
        indicator += [number + 1] * count
        answers.append(int(shape in ("star", "clique")))
        labels += generator.choice(KINDS, count, p=generator.dirichlet(np.ones(KINDS))).tolist()
    both = sorted([*pairs, *((other, one) for one, other in pairs)])
    parts = {
        "A": [f"{one + 1}, {other + 1}" for one, other in both],
        "graph_indicator": indicator,
        "graph_labels": answers,
        "node_labels": labels,
    }
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, lines in parts.items():
            member = zipfile.ZipInfo(f"{PREFIX}/{PREFIX}_{name}.txt")  # without a date: the same bytes every time
            archive.writestr(member, "".join(f"{line}\n" for line in lines))


def edges(shape: str, count: int, generator: np.random.Generator) -> list[tuple[int, int]]:
    """The edges of one graph, each once."""
    if shape == "ring":
        return [(node, (node + 1) % count) for node in range(count)]
    if shape == "tree":
        return [(int(generator.integers(node)), node) for node in range(1, count)]
    if shape == "star":
        return [(0, node) for node in range(1, count)]
    return [(one, other) for other in range(count) for one in range(other)]
