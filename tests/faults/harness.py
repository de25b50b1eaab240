"""A small working directory, stages in it that are ended at chosen moments, and what must come out."""

import json
import os
import random
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import yaml

from clrepro.paths import ROOT, read_json, sha256
from tests.standins import ONE_ENCODER

SMALL = {
    "papers": ["li2024", "huang2023"],
    "tables": ["li2024/table_3_v1", "huang2023/table_B3", "huang2023/table_4", "huang2023/table_5"],
    "figures": [],
    "seeds": [1],
    "sentence": {
        "corpus_lines": 400,
        "backbones": ONE_ENCODER,
        "training": {"batch_size": 16, "epochs": 0.4, "evaluate_every": 4, "max_length": 16},
    },
    "image": {"training": {"epochs": 0.3, "batch_divisor": 4, "batch_sizes": [128], "probe_epochs": 1}},
    "graph": {"molecules": {"sets": ["Tox21", "BBBP"], "epochs": 3}},
}
# what a stage needs that others made, in order
STAGES = (
    "train_sentence",
    "train_image",
    "train_graph",
    "train_molecules",
    "embed_sentence",
    "embed_image",
    "embed_graph",
    "sts",
    "transfer",
    "features",
    "svm",
    "molecules",
    "collect",
)
LEFT = ("record", "statistics")  # by a training
# what it makes: lists and features, which Snakemake removes before a job that was interrupted starts again, and the
# listed files, which it does not know
MADE = {
    "train_sentence": (
        "manifests/train/sentence.json",
        "runs/sentence/**/record.json",
        "runs/sentence/**/statistics.json",
    ),
    "train_image": ("manifests/train/image.json", "runs/image/**/record.json", "runs/image/**/statistics.json"),
    "train_graph": ("manifests/train/graph.json", *(f"runs/graph/GIN_NCI1/**/{name}.json" for name in LEFT)),
    "train_molecules": (
        "manifests/train/molecules.json",
        *(f"runs/graph/GIN_molecules/**/{name}.json" for name in LEFT),
    ),
    "embed_sentence": ("features/sentence/*.npz",),
    "embed_image": ("features/image/*.npz",),
    "embed_graph": ("features/graph/*.npz",),
    "sts": ("manifests/sts/*", "runs/**/sts.json"),
    "transfer": ("manifests/transfer/*", "runs/**/transfer.json"),
    "features": ("manifests/features/*", "runs/image/**/linear.json", "runs/image/**/knn.json"),
    "svm": ("manifests/svm/*", "runs/graph/**/svm.json"),
    "molecules": ("manifests/molecules/*", "runs/graph/**/molecules_*.json"),
    "collect": ("tables/*/*", "*.csv", "report.html"),
}
# of a record: times, and the state of a checkout in which somebody may work meanwhile
NOT_COMPARED = ("seconds", "energy_wh", "commit")


class Server:
    """The process whose children run stages."""

    def __init__(self):
        environment = {**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{ROOT}", "HF_HUB_OFFLINE": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.server"], cwd=ROOT, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip

    def run(self, folder: Path, stage: str, moment=None, fault: str = "SIGKILL", **more) -> dict:
        """{code, told, log}; code is that of the child: 0, an exit code, or minus a signal."""
        request = {"folder": str(folder), "stage": stage, "moment": moment, "fault": fault, **more}
        print(json.dumps(request), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


@dataclass
class Undisturbed:
    """A working directory in which every stage ran once, and what each one needed and made."""

    folder: Path
    counts: dict[str, dict] = field(default_factory=dict)  # calls, operations on files and seconds, by stage
    results: dict[str, dict] = field(default_factory=dict)
    before: dict[str, Path] = field(default_factory=dict)  # copies of results and state, by stage

    def copy(self, stage: str, folder: Path) -> Path:
        """A working directory in which that stage comes next."""
        shutil.copytree(self.before[stage], folder, symlinks=True)
        return folder


def undisturbed(server: Server, folder: Path, wanted=STAGES) -> Undisturbed:
    found = Undisturbed(folder / "work")
    found.folder.mkdir(parents=True)
    (found.folder / "small.yaml").write_text(yaml.safe_dump(SMALL))
    finished(server.run(found.folder, "prepare"))
    shutil.move(found.folder / "data", folder / "data")  # only read from now on
    (found.folder / "data").symlink_to(folder / "data")
    for stage in wanted:
        found.before[stage] = folder / f"before-{stage}"
        shutil.copytree(found.folder, found.before[stage], symlinks=True)
        found.counts[stage] = finished(server.run(found.folder, stage))["told"]
        found.results[stage] = outcome(found.folder, stage)
        assert found.results[stage], stage
    return found


def finished(answer: dict) -> dict:
    assert answer["code"] == 0, answer["log"]
    return answer


def outcome(folder: Path, stage: str) -> dict[str, object]:
    """Everything that a stage leaves, without times: files by content, arrays by their bytes."""
    root = folder / "results/demo"
    patterns = [*MADE[stage], *(("runs/**/*.safetensors",) if stage.startswith("train") else ())]
    found = {}
    for file in sorted(path for pattern in patterns for path in root.glob(pattern) if path.is_file()):
        name = str(file.relative_to(root))
        if file.suffix == ".npz":
            with np.load(file) as stored:
                found[name] = {key: (stored[key].shape, stored[key].tobytes()) for key in stored}
        elif file.match("manifests/*/*"):
            listed = read_json(file)["files"]
            found[name] = {member: sha256(folder / member) == digest for member, digest in listed.items()}
            assert all(found[name].values()), name
        elif file.name == "record.json" or file.name.startswith("molecules_"):
            found[name] = {key: value for key, value in read_json(file).items() if key not in NOT_COMPARED}
        elif file.name == "report.html":
            found[name] = len(file.read_bytes()) > 0
        else:
            found[name] = file.read_bytes()
    return found


def remove_made(folder: Path, stage: str) -> None:
    for pattern in MADE[stage]:
        for file in (folder / "results/demo").glob(pattern):
            file.unlink()


def leftovers(folder: Path) -> list[str]:
    """Temporary files and states that nobody needs any more."""
    paths = [path for part in ("results", "state") for path in (folder / part).rglob("*")]
    marks = (".tmp", ".new")
    return [str(path) for path in paths if path.name.endswith(marks) or path.name.startswith(("saved-", "refused-"))]


@dataclass
class Figures:
    """What a stage went through."""

    stage: str
    kills: int = 0
    starts: int = 0
    resumed: int = 0
    redone: int = 0
    lost: int = 0
    ends: int = 0

    def __str__(self) -> str:
        training = f", {self.resumed} resumed, {self.redone} steps redone" if self.stage.startswith("train") else ""
        return (
            f"{self.stage}: {self.kills} kills in {self.starts} starts{training}, {self.ends} ends equal to the "
            f"undisturbed one, {self.lost} finished runs lost"
        )


def torment(server: Server, whole: Undisturbed, stage: str, folder: Path, kills: int, seed: int) -> Figures:
    """Kill a stage at so many random moments, up to four times on the way to one end; compare every end."""
    draw, figures = random.Random(f"{stage} {seed}"), Figures(stage)
    while figures.kills < kills:
        here = whole.copy(stage, folder / f"{stage}-{figures.ends}")
        steps, records = 0, {}
        for attempt in range(5):
            kind = draw.choices(("calls", "files", "seconds"), (2, 2, 1))[0]
            last = attempt == 4 or figures.kills == kills
            most = whole.counts[stage][kind]
            moment = None if last else [kind, draw.uniform(0, most) if kind == "seconds" else draw.randint(1, most)]
            answer = server.run(here, stage, moment)
            figures.starts += 1
            told = answer["told"]
            if "goes on from step" in answer["log"]:
                figures.resumed += 1
                figures.redone += max(0, steps - told.get("from", steps))
            for file in (here / "state").glob("demo/*/record.json"):
                content = file.read_bytes()
                figures.lost += records.setdefault(file, content) != content
            figures.lost += sum(not file.exists() for file in records)
            if answer["code"] == 0:
                break
            assert answer["code"] == -9, answer["log"]
            figures.kills += 1
            steps = told.get("step", 0)
            if draw.random() < 0.5:
                remove_made(here, stage)
        finished(answer)
        assert outcome(here, stage) == whole.results[stage], f"{stage}: another result after kills"
        assert not leftovers(here)
        figures.ends += 1
        shutil.rmtree(here)
    return figures
