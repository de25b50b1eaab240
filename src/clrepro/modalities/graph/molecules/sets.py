"""The eight sets of MoleculeNet that encoders are fine-tuned on, as Hu et al. (2020) and GraphCL read them.

Shen-Lab/GraphCL at b4d7501, transferLearning_MoleculeNet_PPI/chem/loader.py.
"""

from dataclasses import dataclass

TOX21 = (
    "NR-AR", "NR-AR-LBD", "NR-AhR", "NR-Aromatase", "NR-ER", "NR-ER-LBD", "NR-PPAR-gamma", "SR-ARE", "SR-ATAD5",
    "SR-HSE", "SR-MMP", "SR-p53",
)  # fmt: skip
MUV = (466, 548, 600, 644, 652, 689, 692, 712, 713, 733, 737, 810, 832, 846, 852, 858, 859)


@dataclass(frozen=True)
class ListedSet:
    """One set. file: its name in archives. molecules: as the literature counts them.

    columns: of the tasks; None: all but that of the SMILES. missing: whether labels may be missing. cleaned: SMILES
    that cannot be parsed are left out, and scaffolds are those of canonical SMILES; of other sets all molecules stay.
    """

    file: str
    molecules: int
    tasks: int
    columns: tuple[str, ...] | None
    missing: bool = False
    cleaned: bool = False


SETS = {
    "Tox21": ListedSet("tox21", 7831, 12, TOX21, missing=True),
    "BBBP": ListedSet("bbbp", 2039, 1, ("p_np",), cleaned=True),
    "ToxCast": ListedSet("toxcast", 8575, 617, None, missing=True, cleaned=True),
    "SIDER": ListedSet("sider", 1427, 27, None),
    "ClinTox": ListedSet("clintox", 1478, 2, ("FDA_APPROVED", "CT_TOX"), cleaned=True),
    "MUV": ListedSet("muv", 93087, 17, tuple(f"MUV-{number}" for number in MUV), missing=True),
    "HIV": ListedSet("hiv", 41127, 1, ("HIV_active",)),
    "BACE": ListedSet("bace", 1513, 1, ("Class",)),
}
