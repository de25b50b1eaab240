"""The scaffold split: molecules of one Bemis-Murcko scaffold lie in one part.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/splitters.py:27-107.
"""

from collections import defaultdict
from collections.abc import Hashable, Sequence

import numpy as np
from rdkit import Chem
from rdkit.Chem.Scaffolds import MurckoScaffold

TRAINING, SELECTION, TEST = range(3)
UP_TO = {TRAINING: 0.8, SELECTION: 0.9}  # shares of the molecules with all parts before


def scaffold(molecule: Chem.Mol, canonical: bool) -> str:
    """The scaffold with chirality, as SMILES; empty without rings. canonical: of the canonical SMILES.

    One whose valences RDKit does not allow has no scaffold there: then its own SMILES, which no other molecule has.
    """
    if canonical:
        molecule = Chem.MolFromSmiles(Chem.MolToSmiles(molecule, isomericSmiles=True)) or molecule
    try:
        return MurckoScaffold.MurckoScaffoldSmiles(mol=molecule, includeChirality=True)
    except Chem.MolSanitizeException:
        return Chem.MolToSmiles(molecule)


def scaffold_split(scaffolds: Sequence[Hashable]) -> np.ndarray:
    """(n,) the part of each molecule.

    The largest sets of one scaffold come first, of equal ones that with the larger first index. Each goes to the first
    part that then has, with the parts before, no more than its share; the test has no limit.
    """
    sets: dict[Hashable, list[int]] = defaultdict(list)
    for index, one in enumerate(scaffolds):
        sets[one].append(index)
    parts = np.full(len(scaffolds), TEST, np.uint8)
    counts = [0, 0]
    for rows in sorted(sets.values(), key=lambda rows: (len(rows), rows[0]), reverse=True):
        for part, share in UP_TO.items():
            if sum(counts[: part + 1]) + len(rows) <= share * len(scaffolds):
                counts[part] += len(rows)
                parts[rows] = part
                break
    return parts
