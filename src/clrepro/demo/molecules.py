"""Small generated molecules for the demo, as a zip archive of csv files like that of MoleculeNet's sets."""

import csv
import io
import zipfile
from itertools import combinations
from pathlib import Path
from random import Random

FOLDER = "moleculenet"
PRETRAINING = 120  # molecules
SIZE = 60  # molecules of each set
# {} is where groups are put. Many molecules have one of the first scaffolds, two each have one of the others, so that a
# scaffold split puts the latter into its later parts
COMMON = {"CCC({})CC{}": 16, "c1cc({})ccc1{}": 14, "c1cc({})cnc1{}": 8, "C1CC({})CCC1{}": 6}
RARE = (
    "c1ccc2cc({})ccc2c1", "c1cc({})oc1", "C1CC({})CC1", "c1cc({})sc1", "C1CC({})CCN1", "C1CC({})CCO1",
    "c1ccc(cc1)-c1ccc({})cc1", "C1CC({})C1",
)  # fmt: skip
HALOGENS = ("F", "Cl", "Br")
OTHERS = ("C", "CC", "O", "OC", "N", "C#N", "C(=O)O", "C(=O)N", "C=C")
# the labels of tasks: whether a molecule has one of these atoms
TASKS = {"halogen": ("F", "Cl", "Br"), "oxygen": ("O", "o"), "nitrogen": ("N", "n")}
# the column of the SMILES, how many tasks, and the share of labels that are missing
SETS = {
    "bace": ("mol", 1, 0.0),
    "bbbp": ("smiles", 1, 0.0),
    "clintox": ("smiles", 2, 0.0),
    "hiv": ("smiles", 1, 0.0),
    "muv": ("smiles", 3, 0.2),
    "sider": ("smiles", 3, 0.0),
    "tox21": ("smiles", 3, 0.2),
    "toxcast": ("smiles", 3, 0.2),
}


def write(file: Path) -> None:
    """The eight sets, and pretraining.csv."""
    rng = Random("pretraining")
    pairs = [(scaffold, pair) for scaffold in COMMON for pair in combinations((*HALOGENS, *OTHERS), 2)]
    tables = {"pretraining": [["smiles"], *([of.format(*pair)] for of, pair in rng.sample(pairs, PRETRAINING))]}
    tables |= {name: table(name, *how) for name, how in SETS.items()}
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, rows in tables.items():
            text = io.StringIO()
            csv.writer(text, lineterminator="\n").writerows(rows)
            member = zipfile.ZipInfo(f"{FOLDER}/{name}.csv")  # without a date: the same bytes every time
            archive.writestr(member, text.getvalue())


def table(name: str, column: str, tasks: int, missing: float) -> list[list[str]]:
    """Header and rows of one set; a label may be missing only of common scaffolds, so that small parts have both
    classes.
    """
    rng = Random(name)
    rows = []
    for scaffold, count in COMMON.items():
        pairs = rng.sample(list(combinations((*HALOGENS, *OTHERS), 2)), count)
        rows += [labelled(scaffold.format(*pair), tasks, missing, rng) for pair in pairs]
    for scaffold in RARE:
        rows += [
            labelled(scaffold.format(group), tasks, 0.0, rng) for group in (rng.choice(HALOGENS), rng.choice("ON"))
        ]
    rng.shuffle(rows)
    return [[column, *list(TASKS)[:tasks]], *rows]


def labelled(smiles: str, tasks: int, missing: float, rng: Random) -> list[str]:
    """A molecule and its labels."""
    labels = [str(int(any(atom in smiles for atom in atoms))) for atoms in list(TASKS.values())[:tasks]]
    return [smiles, *("" if rng.random() < missing else label for label in labels)]
