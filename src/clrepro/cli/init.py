"""``clrepro init``: a folder to work in, with configurations of one's own and the rules of the installed clrepro."""

import shutil
from importlib.util import find_spec
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer

from clrepro.errors import UserError
from clrepro.paths import ROOT, room_for

SNAKEFILE = """\
# The rules are those of the installed clrepro. Rules of your own go above `include`.
from clrepro.paths import SNAKEFILE

# a configuration that names a scale stands alone; any other overlays config.yaml
if "scale" not in config:

    configfile: f"{workflow.basedir}/config.yaml"


include: SNAKEFILE


workflow.default_target = "all"  # which Snakemake does not take over from an included file
"""
GITIGNORE = """\
/.snakemake/
/data/
/logs/
/results/
/state/
"""
WRITTEN = {"Snakefile": SNAKEFILE, ".gitignore": GITIGNORE}
# docs: what the first lines of the configurations point to
COPIED = ("config.yaml", "config", "profiles", "docs/config.md", "docs/config.schema.json")


def init(folder: Annotated[Path, typer.Argument(metavar="DIR", help="a new or empty folder")]) -> None:
    """Lay out a project in DIR: configurations to edit, Snakemake profiles, a Snakefile that uses clrepro's rules.

    In it, snakemake and all commands of clrepro read the project's own config.yaml and config/. Nothing is overwritten:
    a folder that is not empty is refused.
    """
    try:
        found = sorted(path.name for path in folder.iterdir()) if folder.exists() else []
    except OSError as failure:
        raise UserError(f"{folder}: {failure.strerror}; name a new or empty folder") from None
    if found:
        more = ", ..." if len(found) > 3 else ""
        raise UserError(f"{folder} is not empty ({', '.join(found[:3])}{more}); name a new or empty folder")
    try:
        with room_for(folder):
            lay_out(folder)
    except OSError as failure:
        raise UserError(f"{folder}: cannot write there ({failure.strerror})") from None
    print(f"{folder}: {', '.join((*WRITTEN, *COPIED))}\n\nNext:")
    if folder.resolve() != Path.cwd():
        print(f"  cd {quote(str(folder))}")
    if not find_spec("snakemake"):
        print("  pip install 'clrepro[workflow]'             # Snakemake, which is not installed here")
    print("  snakemake --cores 2 huang2023_table_4       # a table at demo scale: a minute or two, no network")
    print("  clrepro show --only huang2023/table_4       # prints it; files beside it have the published numbers")
    print("  clrepro doctor --scale paper                # what a scale would need on this machine")


def lay_out(folder: Path) -> None:
    """Copy and write; files get the modes of new ones, as the installed ones may be read-only."""
    for source in (path for name in COPIED for path in sorted((ROOT / name).rglob("*")) or [ROOT / name]):
        target = folder / source.relative_to(ROOT)
        if source.is_file():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            if source.stat().st_mode & 0o100:
                target.chmod(target.stat().st_mode | 0o111)  # commands of profiles
    for name, text in WRITTEN.items():
        (folder / name).write_text(text, "utf-8")
