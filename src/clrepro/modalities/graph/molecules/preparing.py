"""Parse SMILES into flat arrays: the molecules to pre-train on, and the sets with properties."""

from array import array
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from rdkit import Chem
from tqdm import tqdm

from clrepro.console import say
from clrepro.errors import UserError
from clrepro.modalities.graph.molecules import features, files, storage
from clrepro.modalities.graph.molecules.build import MoleculeBuild, MoleculeSetBuild
from clrepro.modalities.graph.molecules.scaffolds import SELECTION, TEST, TRAINING, scaffold, scaffold_split
from clrepro.modalities.graph.molecules.sets import SETS
from clrepro.modalities.graph.molecules.storage import Molecules
from clrepro.paths import read_json, sha256, write_json
from clrepro.settings import Common

LARGEST = 65536  # atoms of a molecule: their numbers are stored in two bytes


def prepare_pretraining(build: MoleculeBuild, config: Common) -> None:
    """Write the molecules to pre-train on and, behind them, record.json; of a molecule of several sets one is kept."""
    about = build.source.molecules
    smiles = files.pretraining_smiles(Path(read_json(build.source.record)["path"]), about)
    writer, seen = Flat(), set()
    with features.quiet():
        for text in shown(smiles):
            molecule = features.parsed(text)
            if molecule is None or not molecule.GetNumAtoms():
                continue
            if about["pretraining"] is None:
                if (canonical := Chem.MolToSmiles(molecule)) in seen:
                    continue
                seen.add(canonical)
            writer.add(molecule)
    finish(build, writer.molecules(), {"smiles": len(smiles)})


def prepare_set(build: MoleculeSetBuild, config: Common) -> None:
    """Write one set, its labels and its split and, behind them, record.json."""
    one = SETS[build.key]
    smiles, labels = files.read_set(Path(read_json(build.source.record)["path"]), build.source.molecules, build.key)
    writer, scaffolds, kept = Flat(), [], []
    parse = features.parsed if one.cleaned else features.parsed_freely
    with features.quiet():
        for row, text in enumerate(shown(smiles)):
            molecule = parse(text)
            if molecule is None or not molecule.GetNumAtoms():
                if one.cleaned:
                    continue
                raise UserError(f"{build.source.name}: {build.key} has a SMILES that RDKit cannot parse: '{text[:80]}'")
            writer.add(molecule)
            scaffolds.append(scaffold(molecule, canonical=one.cleaned))
            kept.append(row)
    parts = scaffold_split(scaffolds)
    counts = np.bincount(parts, minlength=3).tolist()
    about = {"smiles": len(smiles), "tasks": labels.shape[1], "scaffolds": len(set(scaffolds))}
    about |= {"training": counts[TRAINING], "selection": counts[SELECTION], "test": counts[TEST]}
    finish(build, writer.molecules(labels[kept], parts), about)


def finish(build: MoleculeBuild | MoleculeSetBuild, molecules: Molecules, about: dict[str, Any]) -> None:
    """Write the arrays, and the record that vouches for them."""
    if not len(molecules):
        raise UserError(f"{build.key}: none of the {about['smiles']:,} SMILES of {build.source.name} can be parsed")
    digest = sha256(molecules.save(build.folder))
    sizes = {"molecules": len(molecules), "atoms": len(molecules.atoms), "bonds": len(molecules.bonds)}
    content = {**sizes, **about, "files": {storage.FILE: digest}, "sha256": digest}
    write_json(build.folder / "record.json", content)
    left_out = about["smiles"] - len(molecules)
    say(f"{build.key}: ready in {build.folder}, {len(molecules):,} molecules, {left_out:,} SMILES left out")


def shown(smiles: list[str]) -> Iterable[str]:
    return tqdm(smiles, desc="parse", unit="molecule", disable=None, leave=False)


class Flat:
    """Molecules that are added one by one, in flat arrays."""

    def __init__(self) -> None:
        self.atoms, self.bonds, self.kinds = array("B"), array("H"), array("B")
        self.sizes, self.bond_counts = array("i"), array("i")

    def add(self, molecule: Chem.Mol) -> None:
        if molecule.GetNumAtoms() > LARGEST:
            raise UserError(f"a molecule has {molecule.GetNumAtoms():,} atoms; at most {LARGEST:,} can be stored")
        self.atoms.extend(features.atoms_of(molecule))
        ends, kinds = features.bonds_of(molecule)
        self.bonds.extend(ends)
        self.kinds.extend(kinds)
        self.sizes.append(molecule.GetNumAtoms())
        self.bond_counts.append(molecule.GetNumBonds())

    def molecules(self, labels: np.ndarray | None = None, parts: np.ndarray | None = None) -> Molecules:
        atoms, bonds, kinds, sizes, counts = (
            np.frombuffer(part, dtype)
            for part, dtype in (
                (self.atoms, np.uint8),
                (self.bonds, np.uint16),
                (self.kinds, np.uint8),
                (self.sizes, np.int32),
                (self.bond_counts, np.int32),
            )
        )
        return Molecules(atoms.reshape(-1, 2), sizes, bonds.reshape(-1, 2), counts, kinds.reshape(-1, 2), labels, parts)
