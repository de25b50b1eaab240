"""Atoms and bonds of molecules as numbers, with RDKit.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/loader.py:22-95.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from rdkit import Chem, rdBase

ELEMENTS = 120  # rows of the encoder's table; the last one is for what is no element
CHIRALITIES = {Chem.ChiralType.CHI_TETRAHEDRAL_CW: 1, Chem.ChiralType.CHI_TETRAHEDRAL_CCW: 2}  # others: 0
BONDS = {Chem.BondType.DOUBLE: 1, Chem.BondType.TRIPLE: 2, Chem.BondType.AROMATIC: 3}  # others: 0, as single ones
DIRECTIONS = {Chem.BondDir.ENDUPRIGHT: 1, Chem.BondDir.ENDDOWNRIGHT: 2}  # others: 0


@contextmanager
def quiet() -> Iterator[None]:
    """Without RDKit's lines about what it cannot parse, which are counted instead."""
    with rdBase.BlockLogs():
        yield


def parsed(smiles: str) -> Chem.Mol | None:
    """A molecule, or None if RDKit refuses it."""
    return Chem.MolFromSmiles(smiles)


def parsed_freely(smiles: str) -> Chem.Mol | None:
    """The same; a valence that RDKit does not allow is accepted, as in the versions that the sets were made with."""
    if found := parsed(smiles):
        return found
    found = Chem.MolFromSmiles(smiles, sanitize=False)
    if found is None:
        return None
    try:
        found.UpdatePropertyCache(strict=False)
        found = Chem.RemoveHs(found, sanitize=False)
        Chem.SanitizeMol(found, Chem.SanitizeFlags.SANITIZE_ALL ^ Chem.SanitizeFlags.SANITIZE_PROPERTIES)
        return found
    except Chem.MolSanitizeException:
        return None


def atoms_of(molecule: Chem.Mol) -> Iterable[int]:
    """Element and chirality of every atom, one after the other."""
    for atom in molecule.GetAtoms():
        yield (atom.GetAtomicNum() - 1) % ELEMENTS
        yield CHIRALITIES.get(atom.GetChiralTag(), 0)


def bonds_of(molecule: Chem.Mol) -> tuple[list[int], list[int]]:
    """Of every bond the two atoms, and type and direction, one bond after the other."""
    ends, kinds = [], []
    for bond in molecule.GetBonds():
        ends += bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        kinds += BONDS.get(bond.GetBondType(), 0), DIRECTIONS.get(bond.GetBondDir(), 0)
    return ends, kinds
