"""Pictures drawn at random and in one colour."""

import io

import torch
from PIL import Image


def pictures(count: int, height: int, width: int, channels: int = 3) -> torch.Tensor:
    generator = torch.Generator().manual_seed(count + height)
    return torch.randint(0, 256, (count, channels, height, width), dtype=torch.uint8, generator=generator)


def jpeg(colour: tuple[int, int, int], size: tuple[int, int] = (32, 32)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "JPEG", quality=95)
    return file.getvalue()
