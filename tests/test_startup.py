"""What stages must not import before their work begins: seconds of every job."""

import subprocess
import sys

from benchmarks.startup import STAGES, packages


def imported_by(*stages: str) -> set[str]:
    """The heavy packages that the stages import, one after the other, in a fresh process."""
    code = "".join(STAGES[name] for name in stages)
    told = "import sys; print(*{'torch', 'transformers', 'matplotlib', 'sklearn'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", f"{code}\n{told}"], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_stages_without_encoders_import_no_torch():
    assert imported_by("fetch", "evaluate, sts", "table", "report") == set()
    assert imported_by("evaluate, transfer", "evaluate, svm") == {"sklearn"}
    assert imported_by("simulate", "figure") == {"matplotlib"}


def test_trainings_of_images_and_graphs_import_no_transformers():
    assert imported_by("train, images", "train, graphs", "embed, images", "embed, graphs") == {"torch"}


def test_packages_by_the_time_of_their_own_modules():
    lines = [
        "import time: self [us] | cumulative | imported package",
        "import time:    300000 |     300000 |   numpy.core",
        "import time:    200000 |     500000 | numpy",
        "import time:    400000 |     900000 | torch",
    ]
    assert packages("\n".join(lines)) == [("numpy", 0.5), ("torch", 0.4)]
