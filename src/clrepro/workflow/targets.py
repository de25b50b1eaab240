"""Misspelt targets of Snakemake, which takes a name that it does not know for a file that no rule makes."""

import sys
from collections.abc import Iterable
from pathlib import Path

from clrepro.errors import unknown


def check(targets: Iterable[str], known: Iterable[str]) -> None:
    """Refuse a target that is neither a known name nor a path, with near matches.

    A path contains "/" or ".", or is there already.
    """
    known = set(known)
    for target in sorted(targets):
        if target not in known and not any(mark in target for mark in "/.") and not Path(target).exists():
            raise unknown("target", target, known)


def requested() -> set[str]:
    """The targets on Snakemake's command line; none where another program parses the Snakefile.

    ``workflow.dag_settings`` has them only after the Snakefile is parsed (Snakemake 9.27, ``DAGApi.__post_init__``).
    So Snakemake's own parser reads the command line once more. If a later version renames it, the import fails.
    """
    from snakemake.cli import get_argument_parser

    # bin/snakemake, or snakemake/__main__.py
    if "snakemake" not in Path(sys.argv[0]).parts[-2:]:
        return set()
    return set(get_argument_parser().parse_args(sys.argv[1:]).targets)
