"""A detector on a pretrained ResNet: Faster R-CNN on its C4 features, its last stage as box head."""

from torch import Tensor, nn

from clrepro.errors import UserError


class C4(nn.Module):
    """A ResNet up to its third stage: images (N, 3, H, W) -> features (N, out_channels, H / 16, W / 16).

    With the CIFAR stem the features are those of every fourth pixel.
    """

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.stem = nn.Sequential(encoder.conv1, encoder.bn1, encoder.relu, encoder.maxpool)
        self.stages = nn.Sequential(encoder.layer1, encoder.layer2, encoder.layer3)
        self.out_channels = encoder.layer4[0].conv1.in_channels

    def forward(self, images: Tensor) -> Tensor:
        return self.stages(self.stem(images))


class Res5(nn.Module):
    """A ResNet's last stage on regions, with the extra batch norm of MoCo's recipe: (R, C, S, S) -> (R, width)."""

    def __init__(self, encoder: nn.Module):
        super().__init__()
        self.stage, self.norm = encoder.layer4, nn.BatchNorm2d(encoder.width)

    def forward(self, regions: Tensor) -> Tensor:
        return self.norm(self.stage(regions)).mean((2, 3))


def make_detector(encoder: nn.Module, classes: int, settings: dict, statistics: tuple) -> nn.Module:
    """Faster R-CNN with region proposals on C4 and the last stage as box head, as Detectron2's R50-C4.

    encoder: one of ``models.image`` with a ResNet's stages; they become the detector's and are all fine-tuned, batch
    norm on the statistics of the batch. settings, in pixels: sides (of the shorter side: one at random in training, the
    last one in tests), longest_side, anchors (their sides); regions (of an image, to train on), region_size (places a
    side). statistics: (mean, standard deviation) of the colours that the encoder was trained with. Two details are
    torchvision's, not Detectron2's: region pooling without a half-pixel shift, and a smooth box loss (beta 1/9) in
    place of L1.
    """
    from torchvision.models.detection import FasterRCNN
    from torchvision.models.detection.anchor_utils import AnchorGenerator
    from torchvision.models.detection.faster_rcnn import FastRCNNPredictor
    from torchvision.ops import MultiScaleRoIAlign

    if not all(hasattr(encoder, f"layer{number}") for number in (1, 2, 3, 4)):
        raise UserError("detection needs an encoder with the four stages of a ResNet: resnet18 or resnet50")
    mean, deviation = statistics
    return FasterRCNN(
        C4(encoder),
        min_size=tuple(settings["sides"]),
        max_size=settings["longest_side"],
        image_mean=mean,
        image_std=deviation,
        rpn_anchor_generator=AnchorGenerator((tuple(settings["anchors"]),), ((0.5, 1.0, 2.0),)),
        rpn_pre_nms_top_n_train=12_000,
        rpn_pre_nms_top_n_test=6_000,
        rpn_post_nms_top_n_train=2_000,
        rpn_post_nms_top_n_test=1_000,
        box_roi_pool=MultiScaleRoIAlign(["0"], settings["region_size"], sampling_ratio=0),
        box_head=Res5(encoder),
        box_predictor=FastRCNNPredictor(encoder.width, classes + 1),
        box_batch_size_per_image=settings["regions"],
    )
