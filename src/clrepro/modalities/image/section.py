"""The section `image` of the configuration."""

from typing import Literal

from pydantic import Field

from clrepro.settings import Model, Names, PositiveFloat, PositiveInt, Precision


class ImageBackbone(Model):
    """An image encoder, trained from random weights on one image set."""

    data: str = Field(description="source of an image set")
    architecture: Literal["resnet18", "resnet50", "resnet8", "conv3"] = Field(
        description="torchvision's ResNets without their last layer; resnet8: three residual blocks of 16, 32, 64 "
        "channels; conv3: three small convolutions"
    )
    stem: Literal["cifar", "imagenet"] | None = Field(
        None, description="a ResNet's beginning: 3 × 3 without pooling, or 7 × 7 with it; null for resnet8 and conv3"
    )
    side: PositiveInt | None = Field(None, description="pixels that views are resized to; null: the augmentation's")
    classes: Literal["imagenet100"] | None = Field(None, description="only these classes of the image set; null: all")


class ImageTrainingOverrides(Model):
    """What a scale changes in the papers' settings of image encoders; null keeps the paper's value."""

    epochs: PositiveFloat | None = Field(
        None,
        description="passes over the training images, may be a fraction; where a table trains longer than its recipe, "
        "so many times as long; warm-up keeps its share",
    )
    batch_divisor: PositiveInt = Field(1, description="batch sizes are divided by it, to no less than 2")
    memory_divisor: PositiveInt = Field(
        1, description="MoCo's queues and NNCLR's support sets are divided by it, to no less than 1"
    )
    batch_sizes: list[PositiveInt] | None = Field(
        None, description="only runs with these of the papers' batch sizes; the cells of others are holes"
    )
    learning_rates: list[PositiveFloat] | None = Field(
        None, description="of a paper's sweep over learning rates, only these values"
    )
    augmentation: str | None = Field(
        None, description="instead of the papers': one of modalities/image/augmentations.py"
    )
    probe_epochs: PositiveInt | None = Field(None, description="of linear probes and of the heads of fine-tuning")
    hidden_divisor: PositiveInt = Field(1, description="hidden widths of the heads of fine-tuning are divided by it")
    precision: Precision | None = None


class Detection(Model):
    """Images with boxes: trained encoders are fine-tuned on them as detectors (table 2 of huang2023)."""

    train: Names = Field(description="sources of images with boxes, all of them together")
    test: str = Field(description="source of the images with boxes whose objects are then to be found")
    settings: dict[str, float | int | list[int]] = Field(
        {}, description="instead of the paper's, as `iterations: 1000`; papers/huang2023/experiments.yaml has them all"
    )
    runtime_minutes: PositiveInt = Field(2880, description="time limit of a job of fine-tuning, for schedulers")


class Image(Model):
    """Image encoders: data, backbones and training."""

    backbones: dict[str, ImageBackbone | None] = Field(
        {}, description="which encoder fills which tables; what is null or not there leaves their cells out"
    )
    training: ImageTrainingOverrides = ImageTrainingOverrides()
    detection: Detection | None = Field(
        None, description="images with boxes, to fine-tune encoders as detectors; null leaves these cells out"
    )
