"""Image encoders: exports, stems, projectors."""

import json

import pytest
import torch
import torchvision
from safetensors.torch import load_file
from torch import nn
from torch.nn.functional import cross_entropy

from clrepro.modalities.image.encoder import load, make_encoder, make_projector, save
from clrepro.training import optimisers


@pytest.mark.parametrize(
    ("architecture", "stem", "channels", "side", "width"),
    [
        ("resnet18", "cifar", 3, 32, 512),
        ("resnet18", "imagenet", 3, 64, 512),
        ("resnet18", "imagenet", 1, 32, 512),
        ("resnet50", "cifar", 3, 8, 2048),
        ("conv3", None, 1, 8, 64),
        ("resnet8", None, 3, 32, 64),
    ],
)
def test_an_export_loads_as_it_says(tmp_path, monkeypatch, architecture, stem, channels, side, width):
    torch.manual_seed(0)
    encoder, images = make_encoder(architecture, stem, channels), torch.rand(2, channels, side, side)
    encoder(images)  # running statistics that are not those of the start
    expected = encoder.eval()(images)
    assert expected.shape == (2, width) == (2, encoder.width)
    save(encoder, tmp_path)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec("\n".join(json.loads((tmp_path / "config.json").read_text())["load"]), names)
    assert torch.equal(names["model"].eval()(images), expected)
    assert torch.equal(load(tmp_path).eval()(images), expected)


@pytest.mark.parametrize("stem", ["cifar", "imagenet"])
def test_torchvision_misses_only_the_last_layer_and_a_cifar_stem(tmp_path, stem):
    save(make_encoder("resnet18", stem, 3), tmp_path)
    state = load_file(tmp_path / "model.safetensors")
    stem_keys = {"conv1.weight"} if stem == "cifar" else set()
    found = torchvision.models.resnet18().load_state_dict(
        {key: value for key, value in state.items() if key not in stem_keys}, strict=False
    )
    assert set(found.missing_keys) == {"fc.weight", "fc.bias"} | stem_keys
    assert found.unexpected_keys == []


def test_a_cifar_stem_keeps_the_resolution():
    encoder = make_encoder("resnet18", "cifar", 3)
    assert (encoder.conv1.kernel_size, encoder.conv1.stride, encoder.conv1.padding) == ((3, 3), (1, 1), (1, 1))
    stem = encoder.maxpool(encoder.conv1(torch.zeros(1, 3, 32, 32)))
    assert stem.shape == (1, 64, 32, 32)


@pytest.mark.parametrize(
    ("norm", "layers", "kinds"),
    [
        ("hidden", 2, "Linear BatchNorm1d ReLU Linear"),
        ("all", 3, "Linear BatchNorm1d ReLU Linear BatchNorm1d ReLU Linear BatchNorm1d"),
        ("none", 2, "Linear ReLU Linear"),
    ],
)
def test_projectors(norm, layers, kinds):
    projector = make_projector(10, 7, 5, layers, norm)
    assert " ".join(type(layer).__name__ for layer in projector) == kinds
    linear = [layer for layer in projector if isinstance(layer, nn.Linear)]
    assert [layer.in_features for layer in linear] == [10, 7, 7][:layers]
    assert [layer.out_features for layer in linear] == [*[7, 7][: layers - 1], 5]
    followed = [isinstance(layer, nn.BatchNorm1d) for layer in [*projector, None][1:]]
    for layer, normed in zip(projector, followed, strict=True):
        if isinstance(layer, nn.Linear):
            assert (layer.bias is None) == normed


def test_conv3_learns_digits():
    from sklearn.datasets import load_digits

    digits = load_digits()
    images, labels = torch.tensor(digits.images, dtype=torch.float32)[:, None] / 8 - 1, torch.tensor(digits.target)
    torch.manual_seed(0)
    model = nn.Sequential(make_encoder("conv3", None, 1), nn.Linear(64, 10))
    optimiser = optimisers.make("adam", model.parameters(), 5e-3)
    for _ in range(4):
        for rows in torch.randperm(1297).split(64):
            optimiser.zero_grad()
            cross_entropy(model(images[rows]), labels[rows]).backward()
            optimiser.step()
    right = model.eval()(images[1297:]).argmax(1) == labels[1297:]
    assert right.float().mean() > 0.9
