"""What runs on a GPU, on a pretended one: the numbers of the CPU, no tensor of another device, and no waiting."""

import pytest
import torch
from torch import nn

from clrepro import objectives
from clrepro.demo import graphs as demo
from clrepro.modalities.graph import tu_files
from clrepro.modalities.graph.molecules.training import MoleculeWorkload
from clrepro.modalities.graph.training import GraphWorkload, as_seen
from clrepro.modalities.image import image_sets
from clrepro.modalities.image.training import ImageWorkload
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.training import SentenceWorkload
from clrepro.sources.source import source
from clrepro.training import loop
from tests.gpu.pretended import OnGpu, pretended
from tests.modalities.graph.molecules.test_training import SETTINGS as MOLECULES
from tests.modalities.graph.molecules.test_training import molecules
from tests.modalities.graph.test_training import SETTINGS as GRAPHS
from tests.modalities.image.test_training import ENCODER, FRAMEWORKS
from tests.modalities.image.test_training import SETTINGS as IMAGES
from tests.modalities.sentence.trainings import SETTINGS as SENTENCES
from tests.objectives.cases import CASES, case_id, random_views

# the pretended GPU itself


def test_it_refuses_two_devices_and_counts_what_waits():
    with pretended() as gpu:
        x = torch.arange(6.0).to("cuda", non_blocking=True).view(2, 3)
        assert (x.device.type, x.is_cuda) == ("cuda", True)
        assert (2 * x + torch.zeros(3, device="cuda")).sum(1).relu().device.type == "cuda"
        assert gpu.waits == []
        with pytest.raises(RuntimeError, match="expected all tensors on one device, found cuda:0 and cpu"):
            x @ torch.ones(3)
        with pytest.raises(TypeError, match="can't convert cuda"):
            x.numpy()
        gpu.waits.clear()
        for act, said in (
            (lambda: x.sum().item(), "item"), (lambda: float(x[0, 0]), "__float__"),
            (lambda: bool(x[0, 0]), "__bool__"),
            (lambda: x.cpu(), "a copy to the CPU"), (lambda: torch.ones(2).to("cuda"), "a copy to the device"),
            (lambda: x[x > 1], "a boolean index"), (lambda: x[torch.tensor([0, 1])], "an index from the CPU"),
            (lambda: x.nonzero(), "nonzero"), (lambda: torch.tensor([1.0, 2.0], device="cuda"), "a copy to the device"),
        ):  # fmt: skip
            act()
            assert gpu.waits == [said]
            gpu.waits.clear()
    assert not torch.cuda.is_available()


def test_a_network_trains_on_it_as_on_the_cpu():
    ends = []
    for device in ("cpu", "cuda"):
        with pretended():
            torch.manual_seed(0)
            model = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Dropout(0.5), nn.Linear(5, 2))
            parameters = list(model.parameters())
            model.to(device)
            optimiser = torch.optim.AdamW(parameters, 0.1, fused=True)
            for _ in range(3):
                loss = model(torch.randn(8, 3).to(device)).square().mean()
                loss.backward()
                nn.utils.clip_grad_norm_(parameters, 0.1)
                optimiser.step()
                optimiser.zero_grad()
            assert all(isinstance(one, OnGpu) for one in parameters) == (device == "cuda")
            ends.append({name: value.cpu() for name, value in model.state_dict().items()})
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])


# objectives


@pytest.mark.parametrize(("name", "variant", "params"), CASES, ids=map(case_id, CASES))
def test_an_objective_waits_for_nothing(name, variant, params):
    objective, found = objectives.make(name, variant, **params), []
    for device in ("cpu", "cuda"):
        with pretended() as gpu:
            views = [torch.from_numpy(view).to(device, non_blocking=True) for view in random_views(0)]
            views = [view.detach().requires_grad_() for view in views]
            loss = objective(*views)
            loss.backward()
            assert gpu.waits == []
            found.append([part.detach().cpu() for part in (loss, *(view.grad for view in views))])
    for one, two in zip(*found, strict=True):
        torch.testing.assert_close(one, two, rtol=1e-12, atol=1e-12)


# trainings


class Steps:
    """An objective that notes which waits there were before each of its calls."""

    def __init__(self, gpu, objective):
        self.gpu, self.objective, self.between = gpu, objective, []

    def __call__(self, *views, **extras):
        self.between.append([f"{why}: {place}" for why, place in zip(self.gpu.waits, self.gpu.places, strict=True)])
        self.gpu.waits.clear()
        self.gpu.places.clear()
        return self.objective(*views, **extras)


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits")
    image_sets.prepare(None, "digits", folder)
    return image_sets.load(folder / "train")


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    file = tmp_path_factory.mktemp("graphs") / "demo.zip"
    demo.write(file)
    return tu_files.read(file, source("demo-graphs").graphs)


def of_images(framework):
    def made(request):
        objective, changes = FRAMEWORKS[framework]
        settings = {**IMAGES, **changes, "epochs": 2.5}
        workload = ImageWorkload(request.getfixturevalue("digits"), ENCODER, settings, 3, framework == "oar")
        return workload, objective, {**settings, "warmup": 3 * (settings["schedule"] == "cosine")}

    return made


def of_graphs(request):
    settings = {**GRAPHS, "epochs": 10, "behaviour": "written"}
    workload = GraphWorkload(
        as_seen(request.getfixturevalue("graphs"), "written"), {"width": 8, "layers": 2}, settings, 0
    )
    return workload, objectives.make("macl"), {}


def of_molecules(request):
    workload = MoleculeWorkload(molecules(), {"width": 8, "layers": 2}, {**MOLECULES, "epochs": 5}, seed=1)
    return workload, objectives.make("nt_xent"), {}


def of_sentences(request):
    folder, model, _ = request.getfixturevalue("tiny")
    settings = {**SENTENCES, "epochs": 1.0}
    workload = SentenceWorkload(TokenisedCorpus(folder), model, settings, 42, request.getfixturevalue("demo_tasks"))
    return workload, objectives.make("infonce"), settings


KINDS = {"sentences": of_sentences, "graphs": of_graphs, "molecules": of_molecules,
         **{name: of_images(name) for name in FRAMEWORKS}}  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_a_training_ends_in_the_weights_of_the_cpu_and_waits_only_where_it_looks_at_its_loss(kind, request, tmp_path):
    ends = []
    KINDS[kind](request)  # its data are made before seeds are set
    usual = dict(
        learning_rate=0.01, weight_decay=0.0, clip=1.0, precision="fp32", optimiser="adam", schedule="constant"
    )
    for device in ("cpu", "cuda"):
        loop.seed_everything(5)
        workload, objective, settings = KINDS[kind](request)
        how = {**usual, **settings, "evaluate_every": 1000}
        with pretended() as gpu, loop.StopFlag() as stop:
            steps = Steps(gpu, objective)
            end = loop.fit(workload, steps, how, device, tmp_path / device, stop)
            ends.append({name: value.cpu() for name, value in workload.model.state_dict().items()})
        assert end["device"] == ("cpu" if device == "cpu" else "a pretended GPU")
    assert set(ends[0]) == set(ends[1])
    assert [name for name in ends[0] if not torch.equal(ends[0][name], ends[1][name])] == []
    terms = len(steps.between) // workload.steps
    assert workload.steps > 26
    # the first step is recorded, and the loss is looked at every 25 steps
    waits = {call // terms: found for call, found in enumerate(steps.between) if found}
    assert {step: found for step, found in waits.items() if step not in (0, 1, 25)} == {}
    assert {0, 1, 25} <= set(waits)
