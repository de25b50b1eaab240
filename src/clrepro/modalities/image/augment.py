"""Augmentations of a whole batch on its device, reproducible for each picture.

The operations are torchvision's float ones (torchvision.transforms.v2.functional on one picture is the oracle of the
tests), each with parameters of its own for every picture: cropping with resizing and blurring are products with one
matrix for each axis, colour operations are arithmetic on the batch. Parameters are drawn on the CPU
(`clrepro.modalities.image.augmentations`); since they are known there, an operation touches only the pictures that it
applies to, without waiting for the device. A CPU and a GPU give the same picture up to float rounding (with TF32
switched on for products: up to its rounding, a twentieth of a grey level).
"""

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from clrepro.errors import UserError
from clrepro.modalities.image.augmentations import HUE, Augmentation, Draws, draw

__all__ = ["Augmentation", "augment"]

LUMA = (0.2989, 0.587, 0.114)  # ITU-R BT.601, as torchvision rounds it
CPU_CHUNK = 1 << 20  # values of a CPU's working set: a few megabytes, so that it stays in its cache


@torch.no_grad()
def augment(
    images: Tensor | np.ndarray,
    augmentation: Augmentation,
    seed: int,
    epoch: int,
    indices: Tensor | np.ndarray,
    view: int,
    sizes: np.ndarray | None = None,
) -> Tensor:
    """Pictures uint8 (N, C, H, W) -> one view of each, normalised, float32 (N, C, side, side) on the same device.

    A picture depends on (seed, epoch, its index, view) and on nothing else. sizes: see `draw`. The result is channels
    last in memory where C > 1, which convolutions want on a CPU and in half precision.
    """
    if isinstance(images, np.ndarray):
        # mapped files are read-only, which torch does not know
        images = torch.from_numpy(np.require(images, requirements=["C", "W"]))
    check(images, augmentation, len(indices))
    count, channels, height, width = images.shape
    indices = indices.cpu().numpy() if isinstance(indices, Tensor) else indices
    draws = draw(augmentation, seed, epoch, indices, view, height, width, sizes)
    side = augmentation.output_side(height, width)
    layout = torch.channels_last if channels > 1 else torch.contiguous_format
    result = torch.empty(count, channels, side, side, device=images.device, memory_format=layout)
    chunk = max(1, CPU_CHUNK // (channels * max(side, height) * max(side, width)))
    chunk = chunk if images.device.type == "cpu" else count
    with torch.autocast(images.device.type, enabled=False):
        for start in range(0, count, chunk or 1):
            rows = slice(start, start + chunk)
            part = Draws(*(None if value is None else value[rows] for value in vars(draws).values()))
            view_of(images[rows], augmentation, part, side, result[rows])
    return result


def check(images: Tensor, augmentation: Augmentation, count: int) -> None:
    if images.ndim != 4 or images.dtype != torch.uint8:
        raise UserError(f"augment takes uint8 pictures (N, C, H, W), found {images.dtype} {tuple(images.shape)}")
    if len(images) != count:
        raise UserError(f"augment: {len(images)} pictures but {count} indices")
    channels = len(augmentation.normalisation[0])
    if images.shape[1] != channels:
        other = "digits" if channels == 3 else "cifar10"
        raise UserError(
            f"augmentation '{augmentation.name}' normalises {channels} channels, the pictures have {images.shape[1]}: "
            f"give statistics that fit, as in Augmentation('{augmentation.name}', statistics='{other}')"
        )


def view_of(images: Tensor, augmentation: Augmentation, draws: Draws, side: int, out: Tensor) -> None:
    """One view of a few pictures, written into ``out``."""
    x = resized_crop(images, draws.boxes, side, draws.flip)
    if draws.degrees is not None:
        x = rotate(x, draws.degrees)
    if x.shape[1] == 3:
        if draws.factors is not None:
            apply_to(x, draws.jittered, colour_jitter, draws.factors, draws.order)
        apply_to(x, draws.grey, lambda part: grey_of(part).expand_as(part))
    apply_to(x, draws.sigma > 0, blur, draws.sigma)
    mean, deviation = (on(x, values).view(1, -1, 1, 1) for values in augmentation.normalisation)
    out.copy_(x.sub_(mean).div_(deviation))


def apply_to(x: Tensor, chosen: np.ndarray, operation, *parameters: np.ndarray) -> None:
    """x[chosen] = operation(x[chosen], parameters[chosen]), in place."""
    if chosen.all():
        x.copy_(operation(x, *parameters))
    elif chosen.any():
        rows = torch.from_numpy(np.flatnonzero(chosen)).to(x.device, non_blocking=True)
        x[rows] = operation(x[rows], *(parameter[chosen] for parameter in parameters))


def on(x: Tensor, values: np.ndarray | tuple[float, ...]) -> Tensor:
    """Parameters as float32 beside ``x``."""
    return torch.as_tensor(np.asarray(values, np.float32)).to(x.device, non_blocking=True)


def resized_crop(images: Tensor, boxes: np.ndarray, side: int, flip: np.ndarray) -> Tensor:
    """Each picture's box, resized to side x side and mirrored where ``flip``: uint8 (N, C, H, W) -> float (N, C, S, S).

    Bilinear with antialiasing: output pixel i of an axis is the mean of the box's pixels j with the triangle weights
    max(0, 1 - |j + 1/2 - c_i| / s), c_i = start + (i + 1/2) length / S, s = max(length / S, 1).
    """
    count, channels, height, width = images.shape
    rows = axis_weights(boxes[:, 0], boxes[:, 2], height, side, None, images.device)
    columns = axis_weights(boxes[:, 1], boxes[:, 3], width, side, flip, images.device)
    # (N, C, H, W) -> (N, H, C W): one product for all channels of a picture
    x = images.permute(0, 2, 1, 3).to(torch.float32, memory_format=torch.contiguous_format).div_(255)
    x = torch.bmm(rows, x.reshape(count, height, channels * width))
    # (N, S, C W) -> (N, S C, W)
    x = torch.bmm(x.view(count, side * channels, width), columns.transpose(1, 2))
    return x.view(count, side, channels, side).permute(0, 2, 1, 3)


def axis_weights(
    start: np.ndarray, length: np.ndarray, pixels: int, side: int, mirrored: np.ndarray | None, device: torch.device
) -> Tensor:
    """(N, side, pixels): what each pixel of an axis gives to each pixel of the result; rows sum to 1."""
    steps = np.arange(side) + 0.5
    steps = np.broadcast_to(steps, (len(start), side))
    if mirrored is not None:
        steps = np.where(mirrored[:, None], side - steps, steps)
    scale = (length / side)[:, None]
    # in float64 here, so that float32 holds the distances to their last bit
    centres = start[:, None] + steps * scale - 0.5
    first, last = np.floor(start + 1e-9), np.ceil(start + length - 1e-9) - 1
    values = np.concatenate([centres, np.maximum(scale, 1.0), first[:, None], last[:, None]], 1)
    packed = torch.from_numpy(values.astype(np.float32)).to(device, non_blocking=True)
    centres, support = packed[:, :side, None], packed[:, side, None, None]
    first, last = packed[:, side + 1, None, None], packed[:, side + 2, None, None]
    grid = torch.arange(pixels, device=device, dtype=torch.float32)
    weights = (1 - (grid - centres).abs_().div_(support)).clamp_(min=0)
    weights *= (grid >= first) & (grid <= last)
    return weights.div_(weights.sum(2, keepdim=True))


def rotate(x: Tensor, degrees: np.ndarray) -> Tensor:
    """Each picture turned counter-clockwise about its centre; bilinear, black outside."""
    angle = np.radians(degrees)
    cosine, sine, zero = np.cos(angle), np.sin(angle), np.zeros_like(angle)
    # square pictures: the normalised coordinates of both axes have the same unit
    matrix = on(x, np.stack([np.stack([cosine, -sine, zero], 1), np.stack([sine, cosine, zero], 1)], 1))
    grid = functional.affine_grid(matrix, list(x.shape), align_corners=False)
    return functional.grid_sample(x.contiguous(), grid, mode="bilinear", padding_mode="zeros", align_corners=False)


def grey_of(x: Tensor) -> Tensor:
    """Luma (N, 1, H, W) of pictures (N, 3, H, W)."""
    red, green, blue = x.split(1, 1)
    return (red * LUMA[0]).add_(green, alpha=LUMA[1]).add_(blue, alpha=LUMA[2])


def colour_jitter(x: Tensor, factors: np.ndarray, order: np.ndarray) -> Tensor:
    """Brightness, contrast, saturation and hue of each picture, in the picture's own order, as SimCLR shuffles them.

    With f the factor: x -> clamp(f x + (1 - f) r), r = 0 for brightness, the mean luma for contrast, the luma of the
    pixel for saturation. So the three are one blend with coefficients of its own for every picture, and only hue, in
    one picture of four at each of the four places, is a separate operation.
    """
    x = x.clone(memory_format=torch.preserve_format)
    for place in range(4):
        kind = order[:, place]
        factor = np.where(kind == HUE, 1.0, np.take_along_axis(factors, order, 1)[:, place])
        blend(x, factor, kind)
        apply_to(x, kind == HUE, hue, factors[:, HUE])
    return x


def blend(x: Tensor, factor: np.ndarray, kind: np.ndarray) -> None:
    """In place: the blend of `colour_jitter`, with ``kind`` 0, 1, 2 for brightness, contrast, saturation."""
    factor, of_mean, of_pixel = (
        on(x, values).view(-1, 1, 1, 1)
        for values in (factor, np.where(kind == 1, 1 - factor, 0), np.where(kind == 2, 1 - factor, 0))
    )
    luma = grey_of(x)
    reference = luma.mean((2, 3), keepdim=True).mul_(of_mean) + luma.mul_(of_pixel)
    x.mul_(factor).add_(reference).clamp_(0, 1)


def hue(x: Tensor, shift: np.ndarray) -> Tensor:
    """Hue turned by ``shift`` of a full circle, value and saturation kept.

    With M, m the largest and smallest channel and h the hue in sixths of the circle, channel n of (r: 5, g: 3, b: 1) is
    M - (M - m) clamp(min(k, 4 - k), 0, 1), k = (n + h) mod 6.
    """
    red, green, blue = x.split(1, 1)
    largest, smallest = x.amax(1, keepdim=True), x.amin(1, keepdim=True)
    chroma = largest - smallest
    safe = torch.where(chroma == 0, 1.0, chroma)
    sixths = torch.where(
        largest == red,
        (green - blue) / safe,
        torch.where(largest == green, (blue - red) / safe + 2, (red - green) / safe + 4),
    )
    sixths += on(x, shift * 6).view(-1, 1, 1, 1)
    k = sixths + on(x, (5, 3, 1)).view(1, 3, 1, 1)
    k -= torch.floor(k / 6).mul_(6)  # many times faster than a remainder on a CPU
    return largest - chroma * torch.minimum(k, 4 - k).clamp_(0, 1)


def blur(x: Tensor, sigma: np.ndarray) -> Tensor:
    """Gaussian blur with the borders reflected; the window is about a tenth of the side, as SimCLR's (23 at 224)."""
    side = x.shape[2]
    reach = max(1, side // 20)
    offsets = np.arange(-reach, reach + 1)
    kernel = np.exp(-0.5 * (offsets / sigma[:, None]) ** 2)
    kernel = on(x, kernel / kernel.sum(1, keepdims=True))
    # the matrix of both axes: row i takes weight of offset o from pixel i + o, mirrored at the borders
    places = np.abs(np.arange(side)[:, None] + offsets)
    places = np.where(places >= side, 2 * (side - 1) - places, places)
    index = torch.from_numpy(places).to(x.device, non_blocking=True).expand(len(x), -1, -1)
    matrix = x.new_zeros(len(x), side, side).scatter_add_(2, index, kernel[:, None].expand(-1, side, -1))
    return torch.matmul(torch.matmul(matrix[:, None], x), matrix[:, None].transpose(2, 3))
