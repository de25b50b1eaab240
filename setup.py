"""The wheel carries what a checkout has at its root (workflow, papers, configurations), as ``clrepro/project``."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent
PROJECT = (
    "Snakefile",
    "rules",
    "scripts",
    "envs",
    "profiles",
    "config.yaml",
    "config",
    "papers",
    "results/reference",
    "docs/config.md",
    "docs/config.schema.json",
    "docs/objectives/xray/verdicts.yaml",
)


def files() -> list[str]:
    """The files of the project, relative to the root."""
    found = [path for part in PROJECT for path in sorted((ROOT / part).rglob("*")) or [ROOT / part]]
    return [str(path.relative_to(ROOT)) for path in found if path.is_file() and "__pycache__" not in path.parts]


class BuildWithProject(build_py):
    def run(self):
        super().run()
        if self.editable_mode:
            return  # an editable installation reads the checkout
        target = Path(self.build_lib, "clrepro/project")
        shutil.rmtree(target, ignore_errors=True)  # what an earlier build left there
        for name in files():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)

    def get_source_files(self):
        """What a source distribution holds."""
        return [*super().get_source_files(), *files()]


setup(cmdclass={"build_py": BuildWithProject})
