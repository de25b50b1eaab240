"""GraphCL's and MACL's transfer to molecules as Shen-Lab/GraphCL at b4d7501 runs it, one atom after the other.

The reference for the fast implementation: Python loops, NumPy, plain torch in float64, RDKit only to parse SMILES;
nothing is shared with the library. The sections that the docstrings name are those of the project's facts sheet on
the graph experiments: 3.6 the evaluation with an SVM, 4.1 features, 4.2 encoder, 4.3 pre-training, 4.4 fine-tuning,
6 golden values. Random draws come from NumPy's legacy global generator, in the released order.
"""

import math
from collections import defaultdict
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import torch
from rdkit import Chem, rdBase
from rdkit.Chem.Scaffolds import MurckoScaffold
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

from tests.oracles.graphs import BatchNorm, drop_distribution, grow, grow_distribution, linear, trainable, two_layers
from tests.oracles.graphs import weights as formula

ATOMIC_NUMBERS = tuple(range(1, 119))
CHIRALITIES = (
    Chem.ChiralType.CHI_UNSPECIFIED,
    Chem.ChiralType.CHI_TETRAHEDRAL_CW,
    Chem.ChiralType.CHI_TETRAHEDRAL_CCW,
    Chem.ChiralType.CHI_OTHER,
)
BOND_TYPES = (Chem.BondType.SINGLE, Chem.BondType.DOUBLE, Chem.BondType.TRIPLE, Chem.BondType.AROMATIC)
BOND_DIRECTIONS = (Chem.BondDir.NONE, Chem.BondDir.ENDUPRIGHT, Chem.BondDir.ENDDOWNRIGHT)
SELF_LOOP = (4, 0)
PENALTIES = (1e-3, 1e-2, 0.1, 1, 10, 100, 1000)


@dataclass(frozen=True)
class Molecule:
    """Atoms as (atomic number - 1, chirality); bonds as (source, target, type, direction), both ways in turn."""

    atoms: tuple[tuple[int, int], ...]
    bonds: tuple[tuple[int, int, int, int], ...]

    def edges(self) -> list[tuple[int, int]]:
        return [(source, target) for source, target, _, _ in self.bonds]


def molecule(atoms, bonds) -> Molecule:
    """A molecule of section 6.4 from atom indices and undirected bonds (a, b, type); chirality and direction 0."""
    both = [directed for a, b, kind in bonds for directed in ((a, b, kind, 0), (b, a, kind, 0))]
    return Molecule(tuple((atom, 0) for atom in atoms), tuple(both))


# Features (4.1)


def parse(smiles: str):
    """RDKit's molecule, or None where the SMILES cannot be parsed, without a message."""
    with rdBase.BlockLogs():
        return Chem.MolFromSmiles(smiles)


def molecule_from_smiles(smiles: str) -> Molecule:
    """Features of every atom and bond (4.1), in RDKit's order; both directions of a bond have the same features.

    What is not in the lists, say a dummy atom or a dative bond, is a ValueError, as in the released code.
    """
    parsed = parse(smiles)
    if parsed is None:
        raise ValueError(f"not a SMILES: {smiles}")
    atoms = [
        (ATOMIC_NUMBERS.index(atom.GetAtomicNum()), CHIRALITIES.index(atom.GetChiralTag()))
        for atom in parsed.GetAtoms()
    ]
    bonds = []
    for bond in parsed.GetBonds():
        first, second = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        features = (BOND_TYPES.index(bond.GetBondType()), BOND_DIRECTIONS.index(bond.GetBondDir()))
        bonds += [(first, second, *features), (second, first, *features)]
    return Molecule(tuple(atoms), tuple(bonds))


# Augmentations (4.3)


def only_atoms(whole: Molecule, kept) -> tuple[Molecule, tuple[int, ...]]:
    """Keep the atoms, numbered anew in the order given, and the bonds between them, in their order (4.3).

    If no bond is left, the whole molecule comes back, with all its atoms: the released code swallows an exception.
    """
    kept = [int(atom) for atom in kept]
    bonds = [(kept.index(a), kept.index(b), *rest) for a, b, *rest in whole.bonds if a in kept and b in kept]
    if not bonds:
        return whole, tuple(range(len(whole.atoms)))
    return Molecule(tuple(whole.atoms[atom] for atom in kept), tuple(bonds)), tuple(kept)


def drop_nodes(whole: Molecule, ratio: float = 0.2) -> tuple[Molecule, tuple[int, ...]]:
    """Drop int(ratio n) atoms, drawn without replacement (4.3); returns the kept atoms' numbers, too, ascending."""
    count = len(whole.atoms)
    dropped = np.random.choice(count, int(ratio * count), replace=False)
    return only_atoms(whole, [atom for atom in range(count) if atom not in dropped])


def subgraph(whole: Molecule, ratio: float = 0.2, written: bool = False) -> tuple[Molecule, tuple[int, ...]]:
    """Keep the atoms that section 3.2's rule draws with k = int(ratio n), in the order of drawing (4.3)."""
    count = len(whole.atoms)
    return only_atoms(whole, grow(count, whole.edges(), int(ratio * count), written))


def random(whole: Molecule, ratio: float = 0.2, written: bool = False) -> tuple[Molecule, tuple[int, ...]]:
    """One of the two, drawn uniformly for every access (4.3)."""
    return subgraph(whole, ratio, written) if int(np.random.randint(2)) else drop_nodes(whole, ratio)


def kept_distribution(whole: Molecule, name: str, ratio: float = 0.2, written: bool = False) -> dict:
    """Probability of every tuple of kept atoms, in order, for drop_nodes, subgraph or random (4.3)."""
    count = len(whole.atoms)
    wanted = int(ratio * count)
    result = defaultdict(Fraction)
    for one in ("drop_nodes", "subgraph") if name == "random" else (name,):
        if one == "drop_nodes":
            drawn = drop_distribution(count, wanted)
        else:
            drawn = grow_distribution(count, whole.edges(), wanted, written)
        for kept, probability in drawn.items():
            result[only_atoms(whole, kept)[1]] += probability / (2 if name == "random" else 1)
    return dict(result)


# Encoder (4.2)


@dataclass
class Encoder:
    """Tables and layers (4.2); a layer is (first linear, second linear, bond types, bond directions, BatchNorm)."""

    atoms: torch.Tensor
    chiralities: torch.Tensor
    layers: list[tuple]
    head: tuple

    def parameters(self) -> list[torch.Tensor]:
        """All trained tensors but the head's."""
        found = [self.atoms, self.chiralities]
        for first, second, types, directions, norm in self.layers:
            found += [*first, *second, types, directions, norm.scale, norm.shift]
        return found


def formula_encoder(width: int = 4, layers: int = 5) -> Encoder:
    """The encoder of section 6.4: k counts the atom table, chirality, each layer's four matrices, the head's two."""

    def layer(k):
        types, directions = trainable(formula(k + 2, 6, width)), trainable(formula(k + 3, 3, width))
        return linear(k, 2 * width, width), linear(k + 1, width, 2 * width), types, directions, BatchNorm(width)

    k = 2 + 4 * layers
    head = (linear(k, width, width), linear(k + 1, width, width))
    tables = (trainable(formula(0, 120, width)), trainable(formula(1, 3, width)))
    return Encoder(*tables, [layer(2 + 4 * number) for number in range(layers)], head)


def encode(encoder: Encoder, molecules: list[Molecule], training: bool = False) -> torch.Tensor:
    """Mean-pooled rows of the last layer for a batch of molecules (4.2), without dropout.

    Layer: m_i = sum over bonds j -> i, and a self loop with bond (4, 0), of x_j + type + direction; linear, ReLU,
    linear; BatchNorm over the atoms of the batch; ReLU in all layers but the last. Training changes the running
    statistics.
    """
    rows, edges, owned = [], [], []
    for one in molecules:
        start = len(rows)
        rows += [encoder.atoms[atom] + encoder.chiralities[chirality] for atom, chirality in one.atoms]
        edges += [(start + a, start + b, kind, direction) for a, b, kind, direction in one.bonds]
        owned.append(range(start, len(rows)))
    edges += [(atom, atom, *SELF_LOOP) for atom in range(len(rows))]
    for number, (first, second, types, directions, norm) in enumerate(encoder.layers):
        sums = [torch.zeros_like(row) for row in rows]
        for source, target, kind, direction in edges:
            sums[target] = sums[target] + rows[source] + types[kind] + directions[direction]
        output = norm(two_layers(first, second, torch.stack(sums)), training)
        rows = list(output if number == len(encoder.layers) - 1 else torch.relu(output))
    return torch.stack([sum(rows[atom] for atom in atoms) / len(atoms) for atoms in owned])


# Fine-tuning (4.4)


def masked_bce(labels, logits) -> float:
    """BCE with logits on (y + 1) / 2, summed over the labels that are not 0, divided by their number (4.4).

    float64 throughout; a label is -1, 0 (missing) or 1. With x a logit and p = 1 / (1 + e^-x), the two terms are
    -log p = log(1 + e^-x) and -log(1 - p) = x - log p.
    """
    total, count = 0.0, 0
    for row, scores in zip(labels, logits, strict=True):
        for label, logit in zip(row, scores, strict=True):
            if label == 0:
                continue
            negative_log = math.log1p(math.exp(-abs(logit))) + max(-float(logit), 0.0)
            total += negative_log if label == 1 else float(logit) + negative_log
            count += 1
    return total / count


def roc_auc(positives, negatives) -> float:
    """The share of pairs (positive, negative) in which the positive's score is higher; ties count a half."""
    total = 0.0
    for positive in positives:
        for negative in negatives:
            total += 1.0 if positive > negative else 0.5 if positive == negative else 0.0
    return total / (len(positives) * len(negatives))


def task_aucs(labels, scores) -> list[float | None]:
    """ROC-AUC of every task over its non-missing labels (4.4); None where a class does not occur."""
    result = []
    for task in range(len(labels[0])):
        positives = [row[task] for row, own in zip(scores, labels, strict=True) if own[task] == 1]
        negatives = [row[task] for row, own in zip(scores, labels, strict=True) if own[task] == -1]
        result.append(roc_auc(positives, negatives) if positives and negatives else None)
    return result


def mean_auc(labels, scores) -> float:
    """The plain mean over the tasks that have both classes (4.4), as a fraction."""
    values = [value for value in task_aucs(labels, scores) if value is not None]
    return sum(values) / len(values)


def split_sets(sets: list[list[int]]) -> tuple[list[int], list[int], list[int]]:
    """Training, validation and test rows from scaffold sets (4.4), 80 / 10 / 10.

    Sets in the order of (size, smallest index), descending. A set goes to training if that stays at or below 0.8 n,
    else to validation if training and validation together stay at or below 0.9 n, else to test.
    """
    count = sum(len(members) for members in sets)
    training, validation, test = [], [], []
    for members in sorted((sorted(one) for one in sets), key=lambda one: (len(one), one[0]), reverse=True):
        if 10 * (len(training) + len(members)) <= 8 * count:
            training += members
        elif 10 * (len(training) + len(validation) + len(members)) <= 9 * count:
            validation += members
        else:
            test += members
    return training, validation, test


def scaffold(smiles: str) -> str:
    """Bemis-Murcko scaffold with chirality as SMILES (4.4); empty without a ring."""
    return MurckoScaffold.MurckoScaffoldSmiles(smiles=smiles, includeChirality=True)


def scaffold_split(smiles: list[str]) -> tuple[list[int], list[int], list[int]]:
    """Rows of the three parts (4.4) for SMILES that can all be parsed; the empty scaffold is a set too."""
    sets = defaultdict(list)
    for row, one in enumerate(smiles):
        sets[scaffold(one)].append(row)
    return split_sets(list(sets.values()))


def canonical_rows(smiles: list[str]) -> tuple[list[int], list[str]]:
    """Rows that can be parsed and their canonical SMILES: what the split sees in BBBP, ClinTox and ToxCast (4.4)."""
    parsed = [(row, parse(one)) for row, one in enumerate(smiles)]
    kept = [(row, Chem.MolToSmiles(found)) for row, found in parsed if found is not None]
    return [row for row, _ in kept], [text for _, text in kept]


# Classification's evaluation (3.6, golden values in 6.5)


def _grid_search_accuracy(x, y, train, test, gamma) -> float:
    """Choose C over five stratified folds, the first of the best; refit; accuracy on the test rows (3.6)."""
    scores = []
    for penalty in PENALTIES:
        folds = [
            SVC(C=penalty, gamma=gamma).fit(x[train][inner], y[train][inner]).score(x[train][outer], y[train][outer])
            for inner, outer in StratifiedKFold(5).split(x[train], y[train])
        ]
        scores.append(np.average(folds))
    best = PENALTIES[scores.index(max(scores))]
    return SVC(C=best, gamma=gamma).fit(x[train], y[train]).score(x[test], y[test])


def svm_scores(x: np.ndarray, y: np.ndarray, gamma: str = "scale") -> tuple[float, float]:
    """("val", test) mean accuracies over ten folds (3.6), as fractions; the reported one is the test's.

    Folds, hold-outs and every fit draw from NumPy's legacy global generator, in the released order: folds once; then
    in each fold the test search, the hold-out (as many rows as the test fold), the search on the rest.
    """
    validation, test = [], []
    for train, rows in StratifiedKFold(10, shuffle=True).split(x, y):
        test.append(_grid_search_accuracy(x, y, train, rows, gamma))
        held = np.random.choice(train, len(rows), replace=False)
        rest = np.array([row for row in train if row not in held])
        validation.append(_grid_search_accuracy(x, y, rest, held, gamma))
    return float(np.mean(validation)), float(np.mean(test))
