"""A step of an image encoder's training on random views; augmenting is not in it."""

import torch

from clrepro.modalities.image.cost import shown_side
from clrepro.modalities.image.training import make_model
from clrepro.modalities.run import Run
from clrepro.training.rehearsal import Rehearsal


def rehearsal(run: Run, device: torch.device, batch_size: int) -> Rehearsal:
    """Two views a picture through the run's framework, with random weights."""
    about, side, anchored = run.backbone.source.images, shown_side(run), run.objective == "oar"
    channels, classes = about["channels"], about["classes"]
    with device:
        model = make_model(run.backbone.encoder, run.recipe.model_dump(), channels, classes if anchored else None)
        views = [torch.randn(batch_size, channels, side, side) for _ in range(2)]
        labels = torch.randint(0, classes, (batch_size,)) if anchored else None
    return Rehearsal(model, lambda: model(*views, labels))
