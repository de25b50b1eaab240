"""Two users at once, on a machine without network, share read-only code and a read-only mirror."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tarfile
import warnings
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from clrepro.catalogue import Catalogue
from clrepro.catalogue.needs import needs
from clrepro.config import merge as overlaid
from clrepro.config import parse, read
from clrepro.demo.sentences import write_corpus
from clrepro.paths import ROOT, read_json
from clrepro.sources import mirroring
from tests.workflow.checkout import SMALL, UNFILLED, Checkout
from tests.workflow.telltales import SECRETS, telltales

# where no namespace may be made, every Python process refuses connections
REFUSING = """
import socket
def refuse(self, address, *rest):
    if self.family != socket.AF_UNIX:
        raise OSError(101, "Network is unreachable")
    return connect(self, address, *rest)
connect, socket.socket.connect, socket.socket.connect_ex = socket.socket.connect, refuse, refuse
"""
DROPPED = "-dac_override,-dac_read_search"
CONNECT = "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])), 5)"


@pytest.fixture(scope="module")
def cut(tmp_path_factory):
    """(words before a command, environment besides): what runs so has no network; tried on a server that listens."""
    refusing = tmp_path_factory.mktemp("refusing")
    (refusing / "sitecustomize.py").write_text(REFUSING)
    with socket.create_server(("127.0.0.1", 0)) as server:

        def reaches(before, besides):
            words = [*before, sys.executable, "-c", CONNECT, str(server.getsockname()[1])]
            return subprocess.run(words, env={**os.environ, **besides}, capture_output=True, text=True)

        assert reaches([], {}).returncode == 0
        namespaces = (["unshare", "-n"], ["unshare", "-c", "-n"], ["unshare", "-r", "-n"])
        before = next((words for words in namespaces if works([*words, "true"])), [])
        if not before:
            warnings.warn("no network namespace is possible here: Python's sockets refuse connections", stacklevel=1)
        besides = {} if before else {"PYTHONPATH": str(refusing)}
        refused = reaches(before, besides)
        assert refused.returncode != 0
        assert "unreachable" in refused.stderr
    # root may write what is read-only, so it does without that power
    powerless = [*before, "setpriv", "--bounding-set", DROPPED, "--inh-caps", DROPPED]
    return powerless if works([*powerless, "true"]) else before, besides


def works(words: list[str]) -> bool:
    try:
        return subprocess.run(words, capture_output=True).returncode == 0
    except FileNotFoundError:
        return False


def state(folder: Path) -> dict[Path, tuple[int, int]]:
    return {path: (path.stat().st_mtime_ns, path.stat().st_size) for path in [folder, *folder.rglob("*")]}


def read_only(folder: Path, yes: bool) -> None:
    for path in [folder, *folder.rglob("*")]:
        path.chmod((0o555 if yes else 0o755) if path.is_dir() else (0o444 if yes else 0o644))


@pytest.fixture(scope="module")
def shared(tmp_path_factory, tiny, demo_tasks):
    """(checkout, mirror), read-only, under paths with blanks and letters that are not ASCII."""
    place = tmp_path_factory.mktemp("gemeinsam") / "für alle's"
    checkout, mirror = place / "Code", place / "Spiegel der Daten"
    checkout.mkdir(parents=True)
    copy = Checkout(checkout)
    for row in (*UNFILLED, "info"):
        copy.edit("papers/li2024/experiments.yaml", f"\n      {row}: {{run: {row}}}\n", "\n")
    copy.edit("papers/li2024/experiments.yaml", "\n      mpt: {run: nie2023.L_mpt}\n", "\n")
    small = overlaid(deepcopy(SMALL), {"seeds": [1], "jobs": {"runs": 9}, "mirror": str(mirror)})
    small["sentence"] |= {"corpus": "wiki1m-for-simcse", "tasks": "senteval-simcse"}
    small["sentence"]["backbones"]["BERT_base"] = {"kind": "pretrained", "source": "bert-base-uncased"}
    (checkout / "small.yaml").write_text(yaml.safe_dump(small))
    (mirror / "wiki").mkdir(parents=True)
    (mirror / "models").mkdir()
    (mirror / "senteval").mkdir()
    write_corpus(mirror / "wiki/wiki1m_for_simcse.txt", 600)
    shutil.copytree(tiny[1], mirror / "models/bert-base-uncased")
    with tarfile.open(mirror / "senteval/senteval.tar", "w") as archive:
        archive.add(demo_tasks, "senteval")
    config = parse(overlaid(read(ROOT / "config.yaml"), small))
    filled = mirroring.fill(mirror, needs(config, mirror))
    assert [finding.state for finding in filled] == ["verified"] * 3
    (checkout / "prepared.json").write_text(json.dumps(str(Catalogue(config).builds()[0].manifest)))
    for part in (checkout, mirror):
        read_only(part, True)
    yield checkout, mirror
    for part in (checkout, mirror):
        read_only(part, False)


class User:
    """Somebody with a home, secrets in the environment, and a working directory of an awkward name."""

    def __init__(self, home: Path, shared, cut):
        self.folder = home / "Müller's äußerste  Daten"
        self.folder.mkdir(parents=True)
        self.checkout, _ = shared
        self.before, besides = cut
        source = str(self.checkout / "src")
        self.environment = {
            **os.environ,
            **SECRETS,
            "HOME": str(home),
            "USER": home.name,
            "LOGNAME": home.name,
            "PYTHONPATH": os.pathsep.join([*besides.values(), source]),
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        }

    def start(self, program: str, *arguments: str) -> subprocess.Popen:
        words = [*self.before, sys.executable, "-m", program, *arguments, "--configfile", self.checkout / "small.yaml"]
        return subprocess.Popen(
            words, cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )

    def run(self, program: str, *arguments: str) -> str:
        running = self.start(program, *arguments)
        said, _ = running.communicate()
        assert running.returncode == 0, said
        return said


@pytest.mark.slow
def test_two_users_share_code_and_mirror_without_network_from_the_sources_to_the_report(tmp_path, shared, cut):
    before = [state(part) for part in shared]
    for part in shared:
        assert not works([*cut[0], "touch", str(part / "written")]), "this user writes into read-only folders"
    # one trains and evaluates, the other one does what comes before that
    anna, bernd = (User(tmp_path / name, shared, cut) for name in ("annamuster", "berndmuster"))
    goals = {
        anna: ("results/demo/manifests/sts/li2024_sentences_fp32_1.json",),
        bernd: (read_json(shared[0] / "prepared.json"),),
    }
    running = {
        user: user.start("snakemake", *goal, "--snakefile", user.checkout / "Snakefile", "--cores", "1")
        for user, goal in goals.items()
    }
    for user in running:
        said, _ = running[user].communicate()
        assert running[user].returncode == 0, said
    assert "report.html: 2 runs" in anna.run("clrepro.cli", "report")
    assert "3 of 3 sources are in" in anna.run("clrepro.cli", "mirror", "--check", str(shared[1]))

    # the same bytes, each in a folder of their own
    prepared = [read_json(next(user.folder.glob("data/prepared/**/tokens.json"))) for user in running]
    assert prepared[0] == prepared[1]
    assert len(list(anna.folder.glob("results/demo/runs/sentence/BERT_base/*/*/seed*/sts.json"))) == 2
    # nothing was written beside the code or the data
    assert [state(part) for part in shared] == before
    # and nothing that leaves the machine says who they are, or where anything lies
    words = ("topsecret", "annamuster", "berndmuster", str(tmp_path), str(shared[0].parent))
    for user in running:
        for part in ("results", "logs", "data", ".snakemake/metadata"):
            assert telltales(user.folder / part, words) == [], part
