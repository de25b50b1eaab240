"""Embeddings: sentences sorted by length, in batches of bounded token count, in float32."""

import numpy as np
import torch
from tqdm import tqdm

from clrepro.models.sentence import SentenceEncoder, max_tokens

TOKEN_BUDGET = 8192  # tokens of a batch, padding included


def tokenise_for_embedding(model: SentenceEncoder, tokenizer, sentences: list[str]) -> list[list[int]]:
    """Token ids of every sentence, cut only where the encoder has no more positions."""
    return tokenizer(sentences, truncation=True, max_length=max_tokens(model, tokenizer))["input_ids"]


@torch.no_grad()
def embed(
    model: SentenceEncoder,
    tokens: list[list[int]],
    device: torch.device,
    with_head: bool = False,
    title: str = "",
) -> np.ndarray:
    """Sentence vectors (n, D) float32 in the order of ``tokens``, dropout off."""
    was_training = model.training
    model.eval()
    order = sorted(range(len(tokens)), key=lambda row: len(tokens[row]))
    vectors = np.empty((len(tokens), model.transformer.config.hidden_size), np.float32)
    pad = model.transformer.config.pad_token_id or 0
    start = 0
    with tqdm(total=len(tokens), desc=title, unit="sentence", disable=None if title else True, leave=False) as bar:
        while start < len(order):
            end = start + 1
            while end < len(order) and (end + 1 - start) * len(tokens[order[end]]) <= TOKEN_BUDGET:
                end += 1
            rows = order[start:end]
            longest = len(tokens[rows[-1]])
            ids = torch.full((len(rows), longest), pad)
            mask = torch.zeros((len(rows), longest), dtype=torch.long)
            for number, row in enumerate(rows):
                ids[number, : len(tokens[row])] = torch.tensor(tokens[row])
                mask[number, : len(tokens[row])] = 1
            vectors[rows] = model(ids.to(device), mask.to(device), with_head=with_head).float().cpu().numpy()
            bar.update(len(rows))
            start = end
    model.train(was_training)
    return vectors
