"""What is refused while runs are planned, and what a job plans that looks at one table alone."""

import pytest

from clrepro import config as configuration
from clrepro.catalogue import Catalogue, papers
from clrepro.catalogue.runs import RunPlanner
from clrepro.errors import UserError
from tests.catalogue.asking import asking


def test_a_batch_larger_than_what_is_not_held_out_is_refused():
    def runs(batch_size: int):
        rows = {"mine": {"objective": "infonce", "recipe": "nie2023.nie2023", "settings": {"held_out": 0.5}}}
        sentence = {"corpus_lines": 200, "training": {"batch_size": batch_size}}
        return asking("demo", papers=["nie2023"], rows=rows, sentence=sentence).runs

    assert runs(100)
    with pytest.raises(
        UserError, match=r"batch_size 101 is larger than what is not held out \(0.5\) of the corpus of 200"
    ):
        assert runs(101)


LINEAR = {"epochs": 2, "batch_size": 8, "learning_rate": 0.1}
BACKBONE = "CIFAR_ResNet-18"


def define(**settings):
    """A run of images with settings of its own beside its recipe's."""
    definition = {"objective": "nt_xent", "recipe": "huang2023.simclr_cifar", "backbones": {BACKBONE: {}}}
    planner = RunPlanner(configuration.load("demo"))
    return planner.define({**definition, "settings": {"batch_size": 64, **settings}}, "huang2023", BACKBONE, "here")


def test_settings_of_evaluations_reach_the_run_as_a_scale_has_them():
    run = define(evaluation={"linear": LINEAR})[0]
    epochs = configuration.load("demo").image.training.probe_epochs
    assert run.evaluation == {"linear": {**LINEAR, "epochs": epochs}}


@pytest.mark.parametrize(
    ("evaluation", "message"),
    [
        ({"linaer": LINEAR}, "unknown evaluation 'linaer' in here. Did you mean linear"),
        ({"linear": {**LINEAR, "epoch": 3}}, "unknown setting 'epoch' in here, evaluation.linear. Did you mean epochs"),
        ({"linear": {**LINEAR, "epochs": 0}}, "here, evaluation.linear: epochs: Input should be greater than 0"),
        ({"linear": {"epochs": 2}}, "here, evaluation.linear: batch_size: Field required"),
        ({"collapse": {"epochs": 2}}, "here: evaluation 'collapse' takes no settings"),
        ({"sts": {}}, "unknown evaluation 'sts' in here"),
    ],
)
def test_wrong_settings_of_evaluations_are_refused_before_anything_starts(evaluation, message):
    with pytest.raises(UserError) as failure:
        define(evaluation=evaluation)
    assert message in str(failure.value)


def test_every_recipe_and_every_run_without_one_says_its_modality(monkeypatch):
    with pytest.raises(UserError, match="a run without a recipe: `modality` is missing, as in `modality: sentence`"):
        papers.modality({"settings": {}}, "nie2023")
    content = {"recipes": {"mine": {"epochs": 1}}}
    monkeypatch.setattr(papers, "load", lambda *_: content)
    with pytest.raises(UserError, match="papers/mine2026/experiments.yaml, recipes.mine: `modality` is missing"):
        papers.modality({"recipe": "mine"}, "mine2026")
    content["recipes"]["mine"]["modality"] = "imgae"
    with pytest.raises(UserError, match="unknown modality 'imgae' in papers/mine2026.*Did you mean image"):
        RunPlanner(configuration.load("demo")).modality({"recipe": "mine"}, "mine2026")


def test_a_job_that_writes_one_table_plans_that_table_alone():
    whole = asking("demo")
    wrong = {"grids": ["nie2023/L_ncl"], "figures": ["li2024/figure_66"]}
    config = whole.config.model_copy(update=wrong)
    with pytest.raises(UserError, match="unknown"):
        Catalogue(config)
    lazy = Catalogue(config, whole=False)
    for table in whole.tables:
        assert lazy.table(table.paper, table.name) == table
    assert "runs" not in vars(lazy)
