"""A step of a sentence encoder's training on random token ids, with random weights of the run's size."""

import torch
from transformers import BertConfig

from clrepro.modalities.run import Run
from clrepro.modalities.sentence.cost import TOKENS_PER_SENTENCE, shape
from clrepro.modalities.sentence.encoder import SentenceEncoder
from clrepro.training.rehearsal import Rehearsal


def rehearsal(run: Run, device: torch.device, batch_size: int) -> Rehearsal:
    """Sentences of lengths around the mean of real ones, at most the recipe's; RoBERTa's shapes are BERT's."""
    size, recipe = shape(run), run.recipe
    config = BertConfig(
        vocab_size=size["vocabulary"],
        hidden_size=size["hidden_size"],
        num_hidden_layers=size["layers"],
        num_attention_heads=size["heads"],
        intermediate_size=size["intermediate_size"],
    )
    with device:
        model = SentenceEncoder(config, recipe.pooling, recipe.head, recipe.freeze_embeddings)
    mean = min(TOKENS_PER_SENTENCE, recipe.max_length)
    lengths = torch.linspace(2 * mean - recipe.max_length, recipe.max_length, batch_size).round().clamp(min=2)
    mask = (torch.arange(recipe.max_length)[None] < lengths[:, None]).long()  # (N, T)
    ids = torch.randint(5, size["vocabulary"], mask.shape)

    def terms():
        vectors = model(ids.repeat_interleave(2, 0), mask.repeat_interleave(2, 0), with_head=True)
        return [(vectors[0::2], vectors[1::2], {})]

    return Rehearsal(model, terms)
