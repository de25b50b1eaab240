"""The command line: plan, show and inspect; train without Snakemake.

The modules of commands import what is slow, the catalogue too, in their functions: --help answers at once.
"""

import sys
from typing import Annotated

import typer

from clrepro import __version__
from clrepro.cli import compare, config, data, doctor, init, objectives, plan, records, results, senteval, train
from clrepro.errors import Interrupted, UserError

app = typer.Typer(
    help="Contrastive-learning papers, reproduced. The workflow itself is run by `snakemake --cores all`, in a clone "
    "or in a project that `clrepro init` has made.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
# a loss's own parameters are options that the command does not know
OWN_OPTIONS = {"allow_extra_args": True, "ignore_unknown_options": True}
COMMANDS = (
    *(init.init, plan.plan, doctor.doctor, train.train),
    *(results.show, results.report, results.reference, results.sweep, results.claims, results.power, results.theory),
    compare.compare,
    *(objectives.objectives, objectives.xray, senteval.senteval),
    *(records.records, records.verify, data.sources, data.mirror, config.config),
)
for command in COMMANDS:
    app.command(context_settings=OWN_OPTIONS if command is objectives.xray else None)(command)


def print_version(asked: bool) -> None:
    if asked:
        print(f"clrepro {__version__}")
        raise typer.Exit()


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=print_version, is_eager=True, help="print the version, and end")
    ] = False,
) -> None:
    pass


def main() -> None:
    try:
        app()
    except UserError as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    except Interrupted as failure:
        print(failure, file=sys.stderr)
        sys.exit(Interrupted.EXIT_CODE)
