"""Image sets and augmentations. The oracle of the operations is torchvision's, one picture at a time."""

import io
import pickle
import zipfile

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import InterpolationMode
from torchvision.transforms.v2 import functional as oracle

from clrepro.errors import UserError
from clrepro.modalities.image import archives, files, image_sets
from clrepro.modalities.image import augment as operations
from clrepro.modalities.image.augment import Recipe, augment
from clrepro.modalities.image.augmentations import RECIPES, STATISTICS, draw
from clrepro.modalities.image.detection import boxes
from clrepro.modalities.image.draws import philox, uniforms

BILINEAR = InterpolationMode.BILINEAR


def pictures(count: int, height: int, width: int, channels: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(count + height)
    return torch.randint(0, 256, (count, channels, height, width), dtype=torch.uint8, generator=generator)


# Augmentation: the operations


@pytest.mark.parametrize("side", [12, 24, 64])
def test_resized_crop_is_torchvisions(side):
    batch = pictures(6, 40, 50)
    boxes = np.array([[3, 4, 20, 30], [0, 0, 40, 50], [10, 20, 30, 30], [0, 0, 5, 4], [7, 3, 33, 11], [1, 1, 1, 48]])
    flip = np.array([0, 1, 0, 1, 0, 0], bool)
    found = operations.resized_crop(batch, boxes.astype(float), side, flip)
    for picture, box, mirrored, result in zip(batch, boxes.tolist(), flip, found, strict=True):
        expected = oracle.resized_crop(picture.float() / 255, *box, [side, side], BILINEAR, antialias=True)
        expected = oracle.horizontal_flip(expected) if mirrored else expected
        torch.testing.assert_close(result, expected, atol=5e-6, rtol=0)


def test_colour_operations_are_torchvisions_in_any_order():
    batch = pictures(24, 9, 11).float() / 255
    batch[0] = batch[0, :1]  # grey: no hue
    order = np.array([np.random.default_rng(row).permutation(4) for row in range(24)])
    factors = np.random.default_rng(0).uniform(0, 2, (24, 4))
    factors[:, 3] = np.linspace(-0.5, 0.5, 24)
    found = operations.colour_jitter(batch, factors, order)
    apply = [oracle.adjust_brightness, oracle.adjust_contrast, oracle.adjust_saturation, oracle.adjust_hue]
    for row, picture in enumerate(batch):
        for kind in order[row]:
            picture = apply[kind](picture, factors[row, kind])
        torch.testing.assert_close(found[row], picture, atol=2e-5, rtol=0)
    grey = operations.grey_of(batch)
    torch.testing.assert_close(grey, oracle.rgb_to_grayscale(batch), atol=1e-6, rtol=0)


@pytest.mark.parametrize(("side", "window"), [(224, 23), (40, 5), (8, 3)])
def test_blur_is_torchvisions(side, window):
    batch = pictures(4, side, side).float() / 255
    sigma = np.array([0.1, 0.6, 1.3, 2.0])
    found = operations.blur(batch, sigma)
    for picture, deviation, result in zip(batch, sigma, found, strict=True):
        expected = oracle.gaussian_blur(picture, [window, window], [deviation, deviation])
        torch.testing.assert_close(result, expected, atol=2e-6, rtol=0)


def test_rotation_is_torchvisions():
    batch = pictures(5, 8, 8, channels=1).float() / 255
    degrees = np.array([15.0, -7.0, 30.0, 90.0, 0.0])
    for picture, angle, result in zip(batch, degrees, operations.rotate(batch, degrees), strict=True):
        torch.testing.assert_close(result, oracle.rotate(picture, angle, BILINEAR), atol=1e-5, rtol=0)


# Augmentation: recipes


@pytest.mark.parametrize(("name", "statistics"), [("test", "cifar10"), ("test", "digits")])
def test_the_test_view_is_exactly_the_normalised_picture(name, statistics):
    mean, deviation = (torch.tensor(values).view(-1, 1, 1) for values in STATISTICS[statistics])
    batch = pictures(5, 32, 32, len(mean))
    found = augment(batch, Recipe(name, statistics=statistics), 0, 0, np.arange(5), 0)
    assert torch.equal(found, (batch.float() / 255 - mean) / deviation)


def test_the_centre_view_of_a_squashed_photograph_is_torchvisions():
    photograph = oracle.gaussian_blur(pictures(1, 300, 420).float(), [31, 31], [6.0, 6.0])[0]
    photograph = ((photograph - photograph.min()) / (photograph.max() - photograph.min()) * 255).byte()
    squashed = oracle.resize(photograph, [256, 256], antialias=True)
    found = augment(squashed[None], Recipe("test_centre"), 0, 0, np.arange(1), 0, sizes=np.array([[300, 420]]))[0]
    usual = oracle.center_crop(oracle.resize(photograph, [256], antialias=True), [224, 224]).float() / 255
    expected = oracle.normalize(usual, *STATISTICS["imagenet"])
    assert (found - expected).abs().mean() < 0.02  # of a standard deviation; the picture itself spreads over four
    assert (oracle.horizontal_flip(found) - expected).abs().mean() > 0.3


@pytest.mark.parametrize("name", RECIPES)
def test_a_picture_does_not_depend_on_its_batch(name):
    recipe = Recipe(name)
    channels = len(recipe.normalisation[0])
    batch, indices = pictures(9, 16, 16, channels), np.array([5, 70_000, 2, 9, 1, 0, 4_000_000_000, 3, 8])
    whole = augment(batch, recipe, 7, 3, indices, 1)
    some = [6, 0, 3]
    assert torch.allclose(augment(batch[some], recipe, 7, 3, indices[some], 1), whole[some], atol=1e-5)
    assert torch.equal(augment(batch.numpy(), recipe, 7, 3, torch.from_numpy(indices), 1), whole)
    assert whole.dtype == torch.float32
    assert whole.isfinite().all()
    if not name.startswith("test"):
        for changed in ((8, 3, 1), (7, 4, 1), (7, 3, 0)):
            seed, epoch, view = changed
            assert (augment(batch, recipe, seed, epoch, indices, view) != whole).flatten(1).any(1).all(), changed


def test_a_step_of_a_large_batch_equals_its_pieces(monkeypatch):
    batch, recipe = pictures(40, 32, 32), Recipe("macl_cifar")
    whole = augment(batch, recipe, 0, 0, np.arange(40), 0)
    monkeypatch.setattr(operations, "CPU_CHUNK", 3 * 3072)
    assert torch.allclose(augment(batch, recipe, 0, 0, np.arange(40), 0), whole, atol=1e-5)


def test_philox_gives_the_published_numbers():
    # known answers of Random123, the generator's reference implementation
    for counter, key, expected in (
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ):
        assert [f"{word:08x}" for word in philox(counter, key).tolist()] == expected.split()


def test_drawn_parameters_have_the_recipes_distribution():
    count = 20_000
    drawn = draw(Recipe("simclr_imagenet"), 0, 0, np.arange(count), 0, 375, 500)
    top, left, height, width = drawn.boxes.T
    assert min(top.min(), left.min()) >= 0
    assert (top + height).max() <= 375
    assert (left + width).max() <= 500
    assert (drawn.boxes == np.round(drawn.boxes)).all()
    area, ratio = height * width / (375 * 500), width / height
    assert 0.078 < area.min() < 0.09
    assert 0.73 < ratio.min() < 0.76
    assert 1.31 < ratio.max() < 1.36
    # what torchvision draws, by its own generator
    from torchvision.transforms import RandomResizedCrop

    torch.manual_seed(0)
    blank = torch.empty(1, 375, 500)
    reference = np.array([RandomResizedCrop.get_params(blank, (0.08, 1.0), (3 / 4, 4 / 3)) for _ in range(5000)])
    for ours, theirs in zip(drawn.boxes.T, reference.T, strict=True):
        points = np.sort(np.concatenate([ours, theirs]))
        distance = np.abs(
            np.searchsorted(np.sort(ours), points, "right") / len(ours)
            - np.searchsorted(np.sort(theirs), points, "right") / len(theirs)
        ).max()
        assert distance < 1.95 * np.sqrt(1 / len(ours) + 1 / len(theirs))  # Kolmogorov-Smirnov at 0.1 %
    for found, expected in (
        (drawn.flip, 0.5),
        (drawn.jittered, 0.8),
        (drawn.grey, 0.2),
        (drawn.sigma > 0, 0.5),
    ):
        assert abs(found.mean() - expected) < 4 * np.sqrt(expected * (1 - expected) / count)
    assert np.allclose(drawn.factors.min(0), [0.2, 0.2, 0.2, -0.2], atol=0.01)
    assert np.allclose(drawn.factors.max(0), [1.8, 1.8, 1.8, 0.2], atol=0.01)
    sigma = drawn.sigma[drawn.sigma > 0]
    assert np.allclose([sigma.min(), sigma.mean(), sigma.max()], [0.1, 1.05, 2.0], atol=0.03)
    _, orders = np.unique(drawn.order @ [64, 16, 4, 1], return_counts=True)
    assert len(orders) == 24
    assert np.abs(orders - count / 24).max() < 5 * np.sqrt(count / 24)
    # neighbours in every coordinate of the key are independent
    base = uniforms(4, 0, 0, np.arange(count), 0)
    for other in (uniforms(4, 1, 0, np.arange(count), 0), uniforms(4, 0, 0, np.arange(count), 1), base[[1, 2, 3, 0]]):
        assert abs(np.corrcoef(base.ravel(), other.ravel())[0, 1]) < 4 / np.sqrt(4 * count)


def test_augment_refuses_what_it_cannot_do():
    batch = pictures(2, 8, 8)
    with pytest.raises(UserError, match="macl_cifar"):
        Recipe("macl_cifra")
    with pytest.raises(UserError, match="statistics='digits'"):
        augment(batch[:, :1], Recipe("test"), 0, 0, np.arange(2), 0)
    with pytest.raises(UserError, match="2 pictures but 3 indices"):
        augment(batch, Recipe("test"), 0, 0, np.arange(3), 0)
    with pytest.raises(UserError, match="uint8"):
        augment(batch.float(), Recipe("test"), 0, 0, np.arange(2), 0)
    with pytest.raises(UserError, match="indices run from -1"):
        augment(batch, Recipe("test"), 0, 0, np.array([-1, 0]), 0)


# Image sets


def test_digits_are_scikit_learns_in_proportion(tmp_path):
    from sklearn.datasets import load_digits

    record = image_sets.prepare(None, "digits", tmp_path)
    train, test = image_sets.load(tmp_path / "train"), image_sets.load(tmp_path / "test")
    assert (train.images.shape, test.images.shape) == ((1297, 1, 8, 8), (500, 1, 8, 8))
    together = np.concatenate([train.images, test.images]).reshape(-1, 64)
    pixels, labels = load_digits(return_X_y=True)
    rows = {
        row.tobytes(): label for row, label in zip(np.round(pixels * 255 / 16).astype(np.uint8), labels, strict=True)
    }
    assert {row.tobytes(): label for row, label in zip(together, [*train.labels, *test.labels], strict=True)} == rows
    assert np.abs(np.bincount(test.labels) - np.bincount(labels) * 500 / 1797).max() < 1
    assert record["splits"]["test"]["files"]["labels.npy"]["shape"] == [500]
    assert image_sets.prepare(None, "digits", tmp_path) == record
    image_sets.verify(tmp_path / "train")
    with open(tmp_path / "train" / "images.npy", "r+b") as file:
        file.seek(-1, 2)
        file.write(b"\7")
    with pytest.raises(UserError, match="prepare"):
        image_sets.verify(tmp_path / "train")
    with pytest.raises(UserError, match="train, test"):
        image_sets.load(tmp_path)


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (32, 32)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "JPEG", quality=95)
    return file.getvalue()


def test_cifar_from_a_zip_of_jpegs(monkeypatch, tmp_path):
    monkeypatch.setattr(archives, "JPEG_COUNTS", {"train": 11, "test": 1})
    content = {
        f"{split}/{name}/{index:04d}.jpg": jpeg((20 * label, 20 * index, 200 if split == "test" else 0))
        for split, count in archives.JPEG_COUNTS.items()
        for label, name in enumerate(archives.JPEG_CLASSES)
        for index in reversed(range(count))
    }

    def build(members):
        with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
            for name, raw in members.items():
                archive.writestr(name, raw)
        return tmp_path / "set.zip"

    image_sets.prepare(build(content), "cifar-jpeg-zip", tmp_path / "out")
    train = image_sets.load(tmp_path / "out" / "train")
    expected = np.array([[20 * label, 20 * index, 0] for label in range(10) for index in range(11)])
    assert np.abs(train.images.mean((2, 3)) - expected).max() < 3
    assert train.labels.tolist() == [label for label in range(10) for _ in range(11)]
    assert train.classes == sorted(train.classes)
    assert image_sets.load(tmp_path / "out" / "test").images[:, 2].min() > 190

    first = "train/cat/0003.jpg"
    for broken, message in (
        ({name: raw for name, raw in content.items() if name != first}, "train/cat has 10 images, expected 11"),
        ({**content, "train/cat/0011.jpg": jpeg((0, 0, 0))}, "has 12 images"),
        ({**content, first: content[first][:300]}, "train/cat/0003.jpg is not a complete JPEG"),
        ({**content, first: jpeg((0, 0, 0), (33, 32))}, "33 x 32 pixels"),
        ({**content, "train/cow/0000.jpg": b""}, "'train/cow/0000.jpg' is not"),
    ):
        with pytest.raises(UserError, match=message):
            image_sets.prepare(build(broken), "cifar-jpeg-zip", tmp_path / "broken")
    raw = build(content).read_bytes()
    (tmp_path / "set.zip").write_bytes(raw[: len(raw) // 2])
    with pytest.raises(UserError, match="not a complete zip"):
        image_sets.prepare(tmp_path / "set.zip", "cifar-jpeg-zip", tmp_path / "broken")


@pytest.fixture
def folders(tmp_path):
    """train and val of classes b, a, c, two and one images each, of different sizes; left half red, right half blue."""
    for split, count in (("train", 2), ("val", 1)):
        for name in "bac":
            for number in range(count):
                picture = Image.new("RGB", (60 + 20 * number, 40), (250, 0, 0))
                picture.paste((0, 0, 250), (picture.width // 2, 0, picture.width, 40))
                place = tmp_path / "source" / split / name / f"{number}.JPEG"
                place.parent.mkdir(parents=True, exist_ok=True)
                picture.save(place, "JPEG", quality=95, subsampling=0)
    return tmp_path / "source"


def test_photographs_are_indexed_and_decoded_on_access(folders, tmp_path):
    record = image_sets.prepare(folders, "image-folder", tmp_path / "out", side=16, counts={"train": 6})
    assert record["splits"]["test"]["examples"] == 3
    train = image_sets.load(tmp_path / "out" / "train")
    assert train.classes == ["a", "b", "c"]
    assert train.labels.tolist() == [0, 0, 1, 1, 2, 2]
    assert train.sizes.tolist() == [[40, 60], [40, 80]] * 3
    assert train.images.shape == (6, 3, 16, 16)
    batch = train.images[np.array([5, 0])]
    assert batch.dtype == np.uint8
    # nothing is cut off: red to the left, blue to the right
    assert batch[:, 0, :, :6].min() > 240
    assert batch[:, 2, :, 10:].min() > 240
    assert np.array_equal(train.images[5], batch[0])
    assert np.array_equal(pickle.loads(pickle.dumps(train)).images[4:][1], batch[0])
    subset = image_sets.prepare(folders, "image-folder", tmp_path / "subset", class_ids=["c", "a"], counts={"test": 2})
    assert subset["splits"]["train"]["classes"] == ["a", "c"]
    (folders / "train" / "a" / "0.JPEG").unlink()
    with pytest.raises(UserError, match=r"0\.JPEG cannot be decoded"):
        train.images[0]


def test_incomplete_folders_are_refused(folders, tmp_path):
    def refused(message, **settings):
        with pytest.raises(UserError, match=message):
            image_sets.prepare(folders, "image-folder", tmp_path / "out", **settings)

    refused("6 images in 3 classes, expected 7", counts={"train": 7})
    refused("lacks 1 of 2 classes, the first is d", class_ids=["a", "d"])
    truncated = folders / "val" / "a" / "0.JPEG"
    truncated.write_bytes(truncated.read_bytes()[:10])
    refused(r"val/a/0\.JPEG is not an image")
    truncated.unlink()
    refused("val/a holds no image")
    (folders / "val" / "x").mkdir()
    refused("class x, which the split train has not")
    with pytest.raises(UserError, match="does not exist; fetch it first"):
        image_sets.prepare(tmp_path / "nowhere", "image-folder", tmp_path / "out")
    with pytest.raises(UserError, match="no folder train"):
        image_sets.prepare(tmp_path, "image-folder", tmp_path / "out")


def test_imagenet100_is_a_hundred_ids():
    ids = files.imagenet100()
    assert len(set(ids)) == 100
    assert ids == sorted(ids)
    assert all(name[0] == "n" and len(name) == 9 and name[1:].isdigit() for name in ids)


def test_voc_annotations(tmp_path):
    folder = tmp_path / "VOCdevkit" / "VOC2007"
    for part in ("ImageSets/Main", "JPEGImages", "Annotations"):
        (folder / part).mkdir(parents=True)
    (folder / "ImageSets/Main/test.txt").write_text("000002\n000001\n")
    person = (
        "<object><name>person</name><difficult>1</difficult>"
        "<part><name>head</name><bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox></part>"
        "<bndbox><xmax>50.5</xmax><xmin>1</xmin><ymin>3</ymin><ymax>40</ymax></bndbox></object>"
    )
    box = "<bndbox><xmin>7</xmin><ymin>8</ymin><xmax>9</xmax><ymax>9</ymax></bndbox>"
    plane = f"<object><name>aeroplane</name>{box}</object>"
    for name, objects in (("000001", person + plane), ("000002", "")):
        (folder / f"Annotations/{name}.xml").write_text(f"<annotation>{objects}</annotation>")
        (folder / f"JPEGImages/{name}.jpg").write_bytes(jpeg((0, 0, 0)))
    record = boxes.prepare([(folder, "test", 2)], [(folder, "test", 2)], tmp_path / "prepared")
    assert (record["train"]["images"], record["test"]["boxes"]) == (2, 2)
    empty, full = boxes.Annotated(tmp_path / "prepared/test.json")
    assert empty["boxes"].shape == (0, 4)
    assert full["image"].dtype == np.uint8
    assert full["image"].shape[0] == 3
    assert full["boxes"].tolist() == [[0, 2, 50.5, 40], [6, 7, 9, 9]]
    assert full["labels"].tolist() == [14, 0]
    assert full["difficult"].tolist() == [True, False]
    for name, text, message in (
        ("Annotations/000001.xml", "<annotation><object>", "not a VOC annotation"),
        ("Annotations/000001.xml", f"<annotation>{plane.replace('aero', 'air')}</annotation>", "not a VOC annotation"),
        ("Annotations/000001.xml", f"<annotation>{plane.replace('>9<', '>6<')}</annotation>", "empty or missing box"),
        ("JPEGImages/000002.jpg", "", "missing or empty"),
        ("JPEGImages/000002.jpg", "<html>", "not an image"),
        ("ImageSets/Main/test.txt", "000001\n", "names 1 images, expected 2"),
    ):
        (folder / name).write_text(text)
        with pytest.raises(UserError, match=message):
            boxes.voc_annotations(folder, "test", 2)
    with pytest.raises(UserError, match=r"trainval\.txt is missing"):
        boxes.voc_annotations(folder, "trainval", 2)
