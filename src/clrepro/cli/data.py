"""``clrepro sources`` and ``mirror``: where data comes from, and a folder that has all of it."""

from pathlib import Path
from typing import Annotated

import typer

from clrepro.cli.options import Files, Mirror, Scale, Settings, megabytes
from clrepro.errors import UserError


def sources(scale: Scale = "demo", configfile: Files = None, settings: Settings = None, mirror: Mirror = None) -> None:
    """List the data sources: where each one is now, size, licence, checksum, url and place in the mirror."""
    from clrepro import config as configuration
    from clrepro.sources.mirroring import place_of
    from clrepro.sources.source import sources as every

    folder = mirror or configuration.load(scale, configfile, settings).mirror
    for source in every().values():
        print(f"{source.name}  ({source.megabytes:g} MB; {source.licence})\n  {source.what}")
        print(f"  now: {place_of(source, folder)}")
        print(f"  url: {source.url or '-'} at {source.revision}\n  mirror: {source.mirror or '-'}")
        print(f"  sha256: {source.sha256 or source.checked}")


def mirror(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="the mirror: a folder with room for all of it")],
    scale: Scale = "demo",
    configfile: Files = None,
    settings: Settings = None,
    check: Annotated[bool, typer.Option("--check", help="only verify what is there; needs no network")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="only list what would be downloaded, with sizes")] = False,
) -> None:
    """Download all that a scale needs into DIR, once; with `mirror: DIR` nothing else needs the network.

    Interrupted downloads go on where they stopped, complete files are verified and skipped, DIR/manifest.json names
    each with its sha256, size, url and revision. What may not be downloaded automatically is named with its place.
    """
    from clrepro import config as configuration
    from clrepro.catalogue.needs import needs
    from clrepro.sources import mirroring

    config = configuration.load(scale, configfile, settings)
    needed = needs(config, folder)
    act = mirroring.plan if dry_run else mirroring.check if check else mirroring.fill
    findings = []
    for finding in act(folder, needed):
        print(finding, flush=True)
        findings.append(finding)
    failed = sum(finding.fatal for finding in findings)
    lacking = sum(finding.state == "PUT IT THERE" for finding in findings)
    if not findings:
        print(f"The {config.scale} scale needs no data but what clrepro generates.")
    elif dry_run:
        print(f"{megabytes(mirroring.to_download(findings) / 1000)} to download into {folder}; nothing was done")
    elif failed:
        raise UserError(f"{failed} of {len(findings)} sources are not as they should be in {folder}; see above")
    else:
        ready = f"{len(findings) - lacking} of {len(findings)} sources are in {folder}"
        print(f"{ready}. Use them with: snakemake --cores all --configfile ... --config mirror={folder}")
