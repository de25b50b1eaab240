"""Embeddings: every distinct sentence once, in batches of like length, float32 out.

On a CPU each core takes whole batches by itself, with single-threaded operations: cores that share an operation wait
for each other at its end, and with sentences an operation takes less than a millisecond.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np
import torch
from torch import Tensor, nn
from tqdm import tqdm

# tokens of a batch, padding included: on a CPU at least so many, and more where the encoder is so narrow that hidden
# states of more stay in the cache. One core, MiniLM (384 wide), 1,000 sentences: 207 a second with 256, 217 with 512,
# 211 with 1,024, 196 with 2,048, 133 with 8,192. 48 wide, 6,608 sentences: 0.64 s with 512, 0.42 with 4,096
CPU_TOKENS, CPU_FLOATS = 512, 512 * 384
GPU_TOKENS = 8192

Forward = Callable[[Tensor, Tensor], Tensor]  # token ids and mask, (B, T) int64 -> vectors (B, D)


def tokenise_for_embedding(model: nn.Module, tokenizer, sentences: list[str]) -> list[list[int]]:
    """Token ids of every sentence, cut only where the encoder, its ``transformer``, has no more positions."""
    return tokenise(tokenizer, sentences, positions(model.transformer, tokenizer))


def positions(model: nn.Module, tokenizer) -> int:
    """The longest input in tokens. Models of RoBERTa's kind count positions from the one after the padding id's."""
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            first = 0 if module.padding_idx is None else module.padding_idx + 1
            return min(module.num_embeddings - first, tokenizer.model_max_length)
    return min(getattr(model.config, "max_position_embeddings", None) or 10**9, tokenizer.model_max_length)


def tokenise(tokenizer, sentences: list[str], longest: int) -> list[list[int]]:
    """Token ids of every sentence, special tokens included, ``longest`` at most."""
    if not sentences:
        return []
    only_ids = dict(return_attention_mask=False, return_token_type_ids=False)
    return tokenizer(sentences, truncation=True, max_length=longest, **only_ids)["input_ids"]


@dataclass(frozen=True)
class Padded:
    """Sentences in padded batches of like length, on the CPU: made once, and embedded any number of times.

    parts: (row numbers, token ids and mask (B, T) int64) of every batch.
    """

    count: int
    parts: list[tuple[list[int], Tensor, Tensor]]


def pad_batches(model: nn.Module, tokens: list[list[int]], device: torch.device) -> Padded:
    """For ``embed`` with a model of this width on this device."""
    return _pad_batches(
        tokens, model.transformer.config.hidden_size, model.transformer.config.pad_token_id or 0, device
    )


def _pad_batches(tokens: list[list[int]], width: int, pad: int, device: torch.device) -> Padded:
    on_cpu = torch.device(device).type == "cpu"
    work = batches(tokens, max(CPU_TOKENS, CPU_FLOATS // width) if on_cpu else GPU_TOKENS)
    return Padded(len(tokens), [(rows, *padded([tokens[row] for row in rows], pad)) for rows in work])


def embed(
    model: nn.Module,
    tokens: list[list[int]] | Padded,
    device: torch.device,
    with_head: bool = False,
    title: str = "",
) -> np.ndarray:
    """Sentence vectors (n, D) float32 in the order of ``tokens``, dropout off.

    model: (ids, mask, with_head=...) -> vectors, as a sentence encoder that is trained here, on its ``transformer``;
    it takes ids and mask to its device itself.
    """
    if not isinstance(tokens, Padded):
        tokens = pad_batches(model, tokens, device)
    was_training = model.training
    model.eval()
    try:
        forward = partial(model, with_head=with_head)
        return in_batches(forward, tokens, model.transformer.config.hidden_size, device, title)
    finally:
        model.train(was_training)


def embed_distinct(
    forward: Forward,
    sentences: list[str],
    tokens_of: Callable[[list[str]], list[list[int]]],
    width: int,
    pad: int,
    device: torch.device,
) -> np.ndarray:
    """Vectors (n, width) of sentences, each distinct one tokenised and embedded once; forward: on the device."""
    distinct = {sentence: row for row, sentence in enumerate(dict.fromkeys(sentences))}
    work = _pad_batches(tokens_of(list(distinct)), width, pad, device)

    def there(ids: Tensor, mask: Tensor) -> Tensor:
        return forward(ids.to(device, non_blocking=True), mask.to(device, non_blocking=True))

    vectors = in_batches(there, work, width, device, "embed")
    return vectors if len(distinct) == len(sentences) else vectors[[distinct[sentence] for sentence in sentences]]


def in_batches(forward: Forward, work: Padded, width: int, device: torch.device, title: str = "") -> np.ndarray:
    """Vectors (n, width) float32 in the order of the rows; without any token, as "" has in some vocabularies, zeros.

    The batch that a sentence is in changes its vector by rounding only. Largest difference between a sentence alone
    and in batches of 512 or 4,096 tokens, over 600 sentences of SentEval: 7e-7 (relative to the vector's length 2e-7)
    with a BERT of 2 layers and 128 dimensions, 1.5e-6 (1.5e-6) with MiniLM of 6 layers and 384.
    A GPU is waited for once, at the end.
    """
    vectors = np.zeros((work.count, width), np.float32)
    threads = torch.get_num_threads() if torch.device(device).type == "cpu" else 1

    def one(ids: Tensor, mask: Tensor) -> Tensor:
        with torch.inference_mode():  # of the thread
            return forward(ids, mask).float()

    def put(rows: list[int], ids: Tensor, mask: Tensor) -> int:
        vectors[rows] = one(ids, mask).numpy()
        return len(rows)

    with tqdm(total=work.count, desc=title, unit="sentence", disable=None if title else True, leave=False) as bar:
        if torch.device(device).type != "cpu":
            found = []
            for rows, ids, mask in work.parts:
                found.append(one(ids, mask))
                bar.update(len(rows))
            if found:
                vectors[[row for rows, *_ in work.parts for row in rows]] = torch.cat(found).cpu().numpy()
            return vectors
        if threads == 1:
            for part in work.parts:
                bar.update(put(*part))
            return vectors
        pool = ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,))
        try:
            for done in as_completed([pool.submit(put, *part) for part in work.parts]):
                bar.update(done.result())
        finally:
            pool.shutdown(cancel_futures=True)
            torch.set_num_threads(threads)
    return vectors


def batches(tokens: list[list[int]], budget: int) -> list[list[int]]:
    """Row numbers, the longest sentences first; a batch's padded size is at most the budget, or it has one row."""
    order = sorted((row for row, ids in enumerate(tokens) if ids), key=lambda row: -len(tokens[row]))
    found, start = [], 0
    while start < len(order):
        end = start + max(1, budget // len(tokens[order[start]]))
        found.append(order[start:end])
        start = end
    return found


def padded(tokens: list[list[int]], pad: int) -> tuple[Tensor, Tensor]:
    """Token ids and mask, (B, T) int64, padded to the right."""
    lengths = torch.tensor([len(ids) for ids in tokens])
    # (B, T)
    mask = torch.arange(int(lengths.max())) < lengths[:, None]
    ids = torch.full(mask.shape, pad)
    ids[mask] = torch.tensor(list(chain.from_iterable(tokens)))
    return ids, mask.long()
