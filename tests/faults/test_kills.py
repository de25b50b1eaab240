"""The quick part: a few kills at random moments, too little memory, and a stop, each compared with an undisturbed end.

The long part, 20 kills a stage and the whole workflow, is ``make test-faults``.
"""

import shutil

import pytest

from tests.faults.harness import Server, Undisturbed, finished, outcome, torment, undisturbed

QUICK = ("train_sentence", "train_image", "train_graph", "train_molecules", "embed_image", "features", "molecules")


@pytest.fixture(scope="module")
def whole(server: Server, tmp_path_factory) -> Undisturbed:
    return undisturbed(server, tmp_path_factory.mktemp("whole"), QUICK)


@pytest.mark.parametrize(
    ("stage", "kills"),
    [
        *[("train_sentence", 2), ("train_image", 3), ("train_graph", 2), ("train_molecules", 2)],
        *[("embed_image", 2), ("features", 2), ("molecules", 3)],
    ],
)
def test_a_stage_killed_at_random_moments_ends_in_the_same_files(server, whole, tmp_path, stage, kills):
    figures = torment(server, whole, stage, tmp_path, kills, seed=1)
    assert figures.kills == kills
    assert figures.lost == 0


@pytest.mark.parametrize(
    ("fault", "code", "said"),
    [("memory", {70}, "Error"), ("SIGUSR2", {75}, "the state is saved in state/demo"), ("SIGTERM", {75}, "stopped")],
)
def test_too_little_memory_or_a_stop_loses_nothing(server, whole, tmp_path, fault, code, said):
    here = whole.copy("train_image", tmp_path / "here")
    answer = server.run(here, "train_image", ["step", 8], fault)
    assert answer["code"] in code, answer["log"]
    assert said in answer["log"]
    assert list(here.glob("state/demo/*/saved-*"))
    finished(server.run(here, "train_image"))
    assert outcome(here, "train_image") == whole.results["train_image"]
    shutil.rmtree(here)
