"""The command line: plan, show and inspect; train without Snakemake.

The modules of commands import what is slow, the catalogue too, in their functions: --help answers at once.
"""

import sys

import typer

from clrepro.cli import config, data, objectives, plan, records, results, senteval, train
from clrepro.errors import Interrupted, UserError

app = typer.Typer(
    help="Contrastive-learning papers, reproduced. The workflow itself is run by `snakemake --cores all`.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(plan.plan)
app.command()(results.show)
app.command()(results.report)
app.command()(results.claims)
app.command()(results.theory)
app.command()(train.train)
app.command()(objectives.objectives)
# a loss's own parameters are options that the command does not know
app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})(objectives.xray)
app.command()(senteval.senteval)
app.command()(records.records)
app.command()(records.verify)
app.command()(data.sources)
app.command()(data.mirror)
app.command()(config.config)


def main() -> None:
    try:
        app()
    except UserError as failure:
        print(f"error: {failure}", file=sys.stderr)
        sys.exit(1)
    except Interrupted as failure:
        print(failure, file=sys.stderr)
        sys.exit(Interrupted.EXIT_CODE)
