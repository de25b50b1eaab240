"""The graph of the paper scale, and the plan of jobs."""

import re

from tests.workflow.checkout import Checkout


def test_the_paper_scale_graph_builds_without_network_or_torch(tmp_path):
    folder = Checkout(tmp_path)
    (tmp_path / "src/torch.py").write_text("raise ImportError('the graph is built without torch')")
    (tmp_path / "src/sitecustomize.py").write_text(
        "import socket\ndef refuse(*_): raise OSError('no network while the graph is built')\n"
        "socket.socket.connect = socket.getaddrinfo = refuse\n"
    )
    done = folder.run("-n", "--quiet", "--configfile", "config/paper.yaml")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_plan_counts_the_jobs_that_run(tmp_path):
    folder = Checkout(tmp_path)
    dry = folder.run("all", "-n", "--configfile", "config.yaml").stdout
    total = int(re.search(r"^total +(\d+)$", dry, re.M)[1])
    plan = folder.run("plan", program="clrepro.cli").stdout
    assert int(re.search(r"^(\d+) jobs;", plan, re.M)[1]) == total - 1  # `all` runs nothing
    (tmp_path / "tables.yaml").write_text("figures: []\nhardware: {name: one abacus}\n")
    without = folder.run("plan", "--configfile", "tables.yaml", program="clrepro.cli").stdout
    runs, fewer = (int(re.search(r"^all, each run once +(\d+)", text, re.M)[1]) for text in (plan, without))
    assert int(re.search(r"^figures, beyond tables +(\d+)", plan, re.M)[1]) == runs - fewer > 0
    assert "beyond tables" not in without
    assert "one abacus" in without  # whose hours these are: hardware.name
