"""Fetch sources, make builds from them, and store the features of finished runs."""

from importlib import import_module
from pathlib import Path

from clrepro.errors import not_installed
from clrepro.modalities.run import Build, Run
from clrepro.settings import Common
from clrepro.sources.fetch import fetch as fetch_source
from clrepro.sources.source import Source
from clrepro.training.float32 import choose_arithmetic
from clrepro.workflow import manifest


def fetch(source: Source, config: Common) -> None:
    """Bring a source to its folder: generated, from the mirror, or from its url."""
    if source.kind == "generated":
        from clrepro.demo.generate import generate

        generate(source)
    else:
        fetch_source(source, config.mirror)


def prepare(build: Build, config: Common) -> None:
    """Make a build ready, as its modality does it, and list its records."""
    module, _, name = build.work.partition(":")
    try:
        getattr(import_module(module), name)(build, config)
    except ModuleNotFoundError as failure:
        raise not_installed(failure) from None
    manifest.write(build.manifest, build.records)


def embed(runs: list[Run], config: Common, folder: Path) -> None:
    """Store the features of runs of one modality, in folder/<run.name>.npz."""
    choose_arithmetic(config)
    folder.mkdir(parents=True, exist_ok=True)
    runs[0].plan.work_module().embed(runs, config, folder)
