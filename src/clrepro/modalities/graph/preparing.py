"""Read a set of graphs into flat arrays."""

from pathlib import Path

from clrepro.console import say
from clrepro.modalities.graph import graph_sets, tu_files
from clrepro.modalities.graph.build import GraphBuild
from clrepro.paths import read_json, sha256, write_json
from clrepro.settings import Common


def prepare(build: GraphBuild, config: Common) -> None:
    """Write the graphs and, behind them, record.json in the build's folder."""
    raw, about = read_json(build.source.record), build.source.graphs
    graphs = tu_files.read(Path(raw["path"]), about)
    graphs.save(build.folder)
    counts = {name: about[name] for name in ("graphs", "nodes", "edges", "width", "classes", "node_labels")}
    digest = sha256(build.folder / graph_sets.FILE)
    write_json(build.folder / "record.json", {**counts, "files": {graph_sets.FILE: digest}, "sha256": digest})
    say(f"{build.source.name}: ready in {build.folder}, {len(graphs):,} graphs of {len(graphs.kinds):,} nodes")
