"""``clrepro doctor``: whether this machine can run a configuration."""

import typer

from clrepro.cli.options import Files, Mirror, Scale, Settings, catalogue_of


def doctor(scale: Scale = "demo", configfile: Files = None, settings: Settings = None, mirror: Mirror = None) -> None:
    """Examine this machine for a configuration: GPU, driver, disk, memory, data; what would fail, with remedies.

    Ends with exit status 1 if something would.
    """
    from clrepro.cli.findings import examine

    catalogue = catalogue_of(scale, configfile, mirror=mirror, settings=settings)
    problems = 0
    for finding in examine(catalogue):
        print(finding, flush=True)
        problems += finding.state == "problem"
    count = f"{problems} problem" + "s" * (problems > 1)
    print(f"\n{count}" if problems else "\nnothing here would stop this configuration")
    raise typer.Exit(bool(problems))
