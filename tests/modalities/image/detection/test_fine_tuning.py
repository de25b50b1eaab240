"""The detector, and its fine-tuning."""

import numpy as np
import pytest
import torch
from torch import nn

from clrepro.errors import Interrupted, UserError
from clrepro.modalities.image.augmentations import STATISTICS
from clrepro.modalities.image.detection import detector
from clrepro.modalities.image.detection.fine_tuning import as_input, batches, draws, factor, fine_tune
from clrepro.modalities.image.detection.precision import answers, average_precision
from clrepro.modalities.image.encoder import load, make_encoder, save
from tests.modalities.image.detection.drawn import COLOURS, SMALL, TinyResNet, pictures
from tests.modalities.image.detection.truths import A, found, truth
from tests.stop import Stop

HOW = {"batch_size": 4, "learning_rate": 0.02, "momentum": 0.9, "weight_decay": 1e-4}


def make_detector(encoder, **changes):
    return detector.make_detector(encoder, 2, {**SMALL, **changes}, STATISTICS["imagenet"])


def evaluate(model, dataset):
    return average_precision(*answers(model, dataset, Stop()))


def test_a_detector_learns_rectangles(tmp_path):
    torch.manual_seed(0)
    model, test = make_detector(TinyResNet()), pictures(12, seed=1)
    before = evaluate(model, test)
    settings = {**HOW, "iterations": 60, "warmup": 10, "precise_norm": 6}
    losses = fine_tune(model, pictures(24, seed=0), settings, 0, tmp_path, Stop())
    after = evaluate(model, test)
    assert len(losses) == 60
    assert np.mean(losses[-5:]) < np.mean(losses[:5]) / 2
    assert before["AP_50"] < 5
    assert after["AP_50"] > 60
    assert after["AP_all"] > 30
    assert after["AP_75"] < after["AP_50"]


@pytest.mark.parametrize("look", [4, 9])  # while it trains, and while batch norm's statistics are computed anew
def test_an_interrupted_fine_tuning_ends_in_the_same_weights_to_the_bit(tmp_path, look):
    settings = {**HOW, "sides": [48, 64], "iterations": 7, "warmup": 3, "precise_norm": 4}
    data = pictures(10, seed=0)

    def model():
        torch.manual_seed(5)
        return make_detector(TinyResNet(), sides=[48, 64])

    whole, parts = model(), model()
    losses = fine_tune(whole, data, settings, 1, tmp_path / "whole", Stop())
    with pytest.raises(Interrupted, match=f"stopped at step {min(look - 1, 7)} of 7; the state is saved"):
        fine_tune(parts, data, settings, 1, tmp_path / "parts", Stop(look))
    parts = model()
    torch.manual_seed(99)  # of a new process
    assert fine_tune(parts, data, settings, 1, tmp_path / "parts", Stop()) == losses
    found, expected = parts.state_dict(), whole.state_dict()
    assert all(torch.equal(found[key], expected[key]) for key in expected)
    # a finished one is only read
    again = model()
    assert fine_tune(again, [{}], settings, 1, tmp_path / "parts", Stop(1)) == losses
    assert all(torch.equal(again.state_dict()[key], expected[key]) for key in expected)
    other = fine_tune(model(), data, settings, 2, tmp_path / "other", Stop())
    assert other != losses


def test_a_batch_holds_wide_or_high_images_and_is_padded_to_the_largest_of_its_own(tmp_path):
    """A resumed training goes on in the same batches."""
    wide = [number % 3 > 0 for number in range(9)]
    data = [{**item, "image": item["image"][:, :32] if wide[number] else item["image"][:, :, :32]}
            for number, item in enumerate(pictures(9, seed=0))]  # fmt: skip
    none = {"boxes": np.zeros((0, 4), np.float32), "labels": np.zeros(0, np.int64), "difficult": np.zeros(0, bool)}
    data = [{**item, **none} for item in data]
    settings = {**HOW, "iterations": 7, "warmup": 0, "precise_norm": 2}

    def shapes(state, look=None):
        torch.manual_seed(5)
        model, found = make_detector(TinyResNet(), sides=[32]), []
        model.backbone.register_forward_pre_hook(lambda _, inputs: found.append(tuple(inputs[0].shape)))
        fine_tune(model, data, settings, 1, state, Stop(look), wide=wide)
        return found

    whole = shapes(tmp_path / "whole")
    assert len(whole) == 9
    assert set(whole) == {(4, 3, 32, 64), (4, 3, 64, 32)}
    with pytest.raises(Interrupted):
        shapes(tmp_path / "parts", 4)
    assert shapes(tmp_path / "parts") == whole[3:]
    order = draws(9, 40, 1)
    found = batches(order, wide, 4)
    kinds = [[place for place in order if wide[place] is kind] for kind in (True, False)]
    assert [len({wide[place] for place in batch}) for batch in found] == [1] * len(found)
    for kind, places in zip((True, False), kinds, strict=True):
        joined = [place for batch in found if wide[batch[0]] is kind for place in batch]
        assert joined == places[: len(joined)]
        assert len(places) - len(joined) < 4
    assert [place for batch in batches(order, None, 4) for place in batch] == order


def test_a_loss_that_is_not_finite_is_one_clear_error(tmp_path):
    settings = {**HOW, "iterations": 20, "warmup": 0, "precise_norm": 1, "learning_rate": 1e6}
    torch.manual_seed(0)
    with pytest.raises(UserError, match="detection diverged at iteration [1-9].*lower `learning_rate`"):
        fine_tune(make_detector(TinyResNet()), pictures(4, seed=0), settings, 0, tmp_path, Stop())


def test_the_detector_holds_the_exported_backbone(tmp_path):
    save(make_encoder("resnet18", "imagenet", 3), tmp_path)
    encoder = load(tmp_path)
    expected = {key: value.clone() for key, value in encoder.state_dict().items()}
    model = make_detector(encoder, region_size=2)
    stem = {"conv1": "stem.0", "bn1": "stem.1", "layer1": "stages.0", "layer2": "stages.1", "layer3": "stages.2"}
    state = model.state_dict()
    for key, value in expected.items():
        part, _, rest = key.partition(".")
        place = "roi_heads.box_head.stage" if part == "layer4" else f"backbone.{stem[part]}"
        assert torch.equal(state[f"{place}.{rest}"], value)
    assert all(parameter.requires_grad for parameter in model.parameters())
    image = torch.rand(1, 3, 64, 96)
    assert model.backbone(image).shape == (1, 256, 4, 6)
    assert model.roi_heads.box_head(torch.rand(5, 256, 14, 14)).shape == (5, 512)
    with pytest.raises(UserError, match="four stages of a ResNet"):
        make_detector(make_encoder("conv3", None, 3))


def test_a_mirrored_image_takes_its_boxes_along():
    (item,) = pictures(1, seed=3)
    image, target = as_input(item, torch.device("cpu"), flip=True)
    assert target["labels"].tolist() == (item["labels"] + 1).tolist()
    for box, label in zip(target["boxes"].int().tolist(), item["labels"], strict=True):
        inside = image[:, box[1] : box[3], box[0] : box[2]]
        colour = torch.tensor(COLOURS[label] / 255, dtype=torch.float32)
        assert torch.allclose(inside, colour[:, None, None].expand_as(inside))


def test_running_statistics_are_those_of_the_final_weights(tmp_path):
    torch.manual_seed(0)
    model, data = make_detector(TinyResNet()), pictures(4, seed=0)
    fine_tune(model, data, {**HOW, "iterations": 2, "warmup": 0, "precise_norm": 3}, 0, tmp_path, Stop())
    # every batch holds all four pictures, mirrored or not: a stride of 2 sees nearly the same in both
    first = model.backbone.stem[0](
        model.transform([as_input(item, torch.device("cpu"))[0] for item in data])[0].tensors
    )
    norm = model.backbone.stem[1]
    assert norm.num_batches_tracked == 3
    torch.testing.assert_close(norm.running_mean, first.mean((0, 2, 3)), atol=0.03, rtol=0.03)


def test_the_schedule_of_24000_iterations():
    found = [factor(iteration, 24_000, 100) for iteration in (0, 50, 100, 17_999, 18_000, 21_999, 22_000, 23_999)]
    assert found == pytest.approx([0.001, 0.5005, 1, 1, 0.1, 0.1, 0.01, 0.01])


def test_data_that_cannot_be_used_is_refused(tmp_path):
    with pytest.raises(UserError, match="no images"):
        fine_tune(nn.Linear(1, 1), [], HOW, 0, tmp_path, Stop())
    with pytest.raises(UserError, match="no box that is not difficult"):
        average_precision([found(A)], [truth(A, difficult=[True])])
