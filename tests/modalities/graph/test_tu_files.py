"""Sets of graphs in TU format: what is read, and what is refused by name."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from clrepro.demo import graphs as demo
from clrepro.errors import UserError
from clrepro.modalities.graph import graph_sets, tu_files
from clrepro.sources.source import source, sources
from tests.oracles import graphs as oracle

ABOUT = source("demo-graphs").graphs


@pytest.fixture(scope="module")
def archive(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("graphs") / "demo.zip"
    demo.write(file)
    return file


def rewritten(archive: Path, place: Path, part: str, change) -> Path:
    """A copy of the archive in which the lines of one part are changed."""
    with zipfile.ZipFile(archive) as old, zipfile.ZipFile(place, "w") as new:
        for name in old.namelist():
            lines = old.read(name).decode().splitlines()
            new.writestr(name, "\n".join(change(lines) if f"_{part}.txt" in name else lines))
    return place


def test_a_set_is_read_as_the_oracle_reads_it(archive, tmp_path):
    with zipfile.ZipFile(rewritten(archive, tmp_path / "twice.zip", "A", lambda lines: lines * 2)) as doubled:
        doubled.extractall(tmp_path)
    found = tu_files.read(tmp_path / "twice.zip", ABOUT)  # each edge twice, as in IMDB-BINARY's file
    expected = oracle.read_tu(tmp_path / demo.PREFIX, demo.PREFIX, one_hot=True)
    looped = found.with_released_loops()
    assert len(found) == len(expected) == 80
    for number, graph in enumerate(expected):
        one, loops = (part.select(np.array([number])) for part in (found, looped))
        assert one.sizes.tolist() == [graph.nodes]
        assert np.array_equal(np.eye(found.width)[one.kinds], graph.features)
        assert sorted(map(tuple, one.edges.T.tolist())) == sorted(graph.edges)
        assert sorted(map(tuple, loops.edges.T.tolist())) == sorted(oracle.with_self_loops(graph).edges)
        assert one.labels.tolist() == [graph.label]


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
def test_a_set_is_read_as_pytorch_geometric_reads_it(archive, tmp_path):
    from torch_geometric.io import read_tu_data

    with zipfile.ZipFile(archive) as whole:
        whole.extractall(tmp_path)
    theirs, slices, _ = read_tu_data(str(tmp_path / demo.PREFIX), demo.PREFIX)
    found = tu_files.read(archive, ABOUT)
    assert np.array_equal(np.diff(slices["x"].numpy()), found.sizes)
    assert np.array_equal(theirs.x.numpy(), np.eye(found.width)[found.kinds])
    assert np.array_equal(theirs.y.numpy(), found.labels)
    within = found.edges - found.starts[found.graph[found.edges]]
    of = np.repeat(np.arange(len(found)), np.diff(slices["edge_index"].numpy()))
    pairs = {(int(one), *pair) for one, pair in zip(of, theirs.edge_index.T.tolist(), strict=True)}
    assert pairs == {
        (int(one), *map(int, pair)) for one, pair in zip(found.graph[found.edges[1]], within.T, strict=True)
    }


def test_a_set_comes_back_from_its_folder_and_in_any_order(archive, tmp_path):
    found = tu_files.read(archive, ABOUT)
    found.save(tmp_path)
    stored = graph_sets.load(tmp_path)
    order = np.random.default_rng(0).permutation(80)
    back = stored.select(order).select(np.argsort(order))
    for name in ("sizes", "kinds", "edges", "labels"):
        assert np.array_equal(getattr(back, name), getattr(found, name)), name
    (tmp_path / graph_sets.FILE).write_bytes(b"not arrays")
    with pytest.raises(UserError, match=r"graphs\.npz cannot be read"):
        graph_sets.load(tmp_path)


@pytest.mark.parametrize(
    ("part", "change", "said"),
    [
        ("A", lambda lines: lines[:-2], "3978 edges where DEMO has 3980"),
        ("graph_labels", lambda lines: ["1", *lines[1:]], "classes where DEMO has"),
        ("graph_labels", lambda lines: lines[:-1], "79 graphs where DEMO has 80"),
        ("node_labels", lambda lines: ["9", *lines[1:]], "10 width where DEMO has 3"),
        ("node_labels", lambda lines: ["x", *lines[1:]], "DEMO_node_labels.txt is damaged"),
        ("A", lambda lines: [*lines[:-2], "1, 878", "878, 1"], "edges between different graphs"),
        ("graph_indicator", lambda lines: ["2", *lines[1:-1], "80"], "do not belong to those of its other files"),
    ],
)
def test_a_damaged_foreign_or_relabelled_file_is_refused_by_name(archive, tmp_path, part, change, said):
    file = rewritten(archive, tmp_path / "changed.zip", part, change)
    with pytest.raises(UserError, match=r"changed\.zip") as refused:
        tu_files.read(file, ABOUT)
    assert said in str(refused.value)


def test_a_truncated_archive_and_one_of_another_set_are_refused(archive, tmp_path):
    (tmp_path / "short.zip").write_bytes(archive.read_bytes()[:-100])
    with pytest.raises(UserError, match=r"short\.zip is not a complete zip archive"):
        tu_files.read(tmp_path / "short.zip", ABOUT)
    with pytest.raises(UserError, match=r"demo\.zip holds no MUTAG_A\.txt"):
        tu_files.read(archive, source("mutag").graphs)


def test_every_set_names_its_counts():
    sets = {name: one.graphs for name, one in sources().items() if one.graphs}
    assert len(sets) == 7
    for about in sets.values():
        assert sum(about["classes"].values()) == about["graphs"]
