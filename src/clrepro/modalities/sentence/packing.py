"""A transformer on the real tokens of a batch alone: padding costs nothing but in attention itself.

A batch of B sentences, T tokens the longest, has R <= B T real tokens. Linear layers, norms and dropout take one row of
R tokens; attention takes (B, T) as ever, and its mask keeps padding out. No weight, no equation and no law of dropout
differs from the padded forward; which random number falls on which token does. Where the first token alone is pooled,
the last layer computes that one alone (its keys and values are of all tokens).
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from clrepro.evaluation.pooling import needs_all_layers

ATTENTION = "clrepro_packed"  # the name of our attention in transformers' register
MODELS = {"bert", "roberta"}  # transformers' model types whose layers take tokens one by one, but for attention


class Gather(torch.autograd.Function):
    """Rows ``places`` of (B T, ...), as (R, ...). No place occurs twice, so the gradient's scatter adds nothing up."""

    @staticmethod
    def forward(context: Any, table: Tensor, places: Tensor) -> Tensor:
        context.rows = len(table)
        context.save_for_backward(places)
        return table.index_select(0, places)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (places,) = context.saved_tensors
        table = gradient.new_zeros(context.rows, *gradient.shape[1:])
        return table.index_copy_(0, places, gradient), None


@dataclass(frozen=True)
class Packing:
    """Where the real tokens of a padded batch stand.

    places: (R,) int64, in the batch as one row of B T tokens; columns: (R,) int64, in their sentences; starts: (B,)
    int64, where in the row of R tokens every sentence begins; mask: (B, 1, 1, T) bool, as attention takes it.
    """

    places: Tensor
    columns: Tensor
    starts: Tensor
    mask: Tensor

    @classmethod
    def of(cls, mask: Tensor, device: torch.device) -> "Packing":
        """mask: (B, T), padded to the right. Where it lies on the CPU, nothing waits for the device."""
        real = mask.bool()
        places = real.flatten().nonzero().flatten()
        columns = places % mask.shape[1]
        parts = (places, columns, (columns == 0).nonzero().flatten(), real[:, None, None, :])
        return cls(*(part.to(device, non_blocking=True) for part in parts))

    def pack(self, padded: Tensor) -> Tensor:
        """(B, T, ...) -> (R, ...)."""
        return Gather.apply(padded.flatten(0, 1), self.places)

    def unpack(self, packed: Tensor) -> Tensor:
        """(R, ...) -> (B, T, ...), zero where padding is."""
        rows, length = self.mask.shape[0], self.mask.shape[-1]
        padded = packed.new_zeros(rows * length, *packed.shape[1:]).index_copy(0, self.places, packed)
        return padded.unflatten(0, (rows, length))


def attend(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: None,
    scaling: float | None = None,
    dropout: float = 0.0,
    *,
    packing: Packing,
    **_: Any,
) -> tuple[Tensor, None]:
    """Attention as transformers calls it; query, key, value: (1, heads, R, width). Returns (1, R, heads, width)."""
    # (B, heads, T, width)
    parts = (packing.unpack(part[0].transpose(0, 1)).transpose(1, 2) for part in (query, key, value))
    mixed = scaled_dot_product_attention(*parts, attn_mask=packing.mask, dropout_p=dropout, scale=scaling)
    return packing.pack(mixed.transpose(1, 2))[None], None


def hidden_states(transformer: nn.Module, ids: Tensor, mask: Tensor, pooling: str) -> tuple[Tensor, ...]:
    """What ``pool`` needs of a model of ``MODELS``: states (B, T, D), or (B, 1, D) where the first tokens suffice.

    ids, mask: (B, T) int64, on the CPU or where the model is. All states if the pooling asks for several, or the last.
    """
    embeddings, layers = transformer.embeddings, transformer.encoder.layer
    device = embeddings.word_embeddings.weight.device
    packing = Packing.of(mask, device)
    tokens = ids[mask.bool()].to(device, non_blocking=True)
    # models of RoBERTa's kind count positions from the one after the padding id's
    first = embeddings.position_embeddings.padding_idx
    positions = packing.columns + (0 if first is None else first + 1)
    states = [embeddings(input_ids=tokens[None], position_ids=positions[None])]
    only_first = pooling == "cls"
    for layer in layers[:-1] if only_first else layers:
        states.append(layer(states[-1], packing=packing))
    if only_first:
        return (first_tokens(layers[-1], states[-1], packing),)
    wanted = states if needs_all_layers(pooling) else states[-1:]
    return tuple(packing.unpack(state[0]) for state in wanted)


def first_tokens(layer: nn.Module, states: Tensor, packing: Packing) -> Tensor:
    """What a layer makes of every sentence's first token, (B, 1, D), from the states (1, R, D) of all tokens."""
    attention = layer.attention.self
    heads = (attention.num_attention_heads, attention.attention_head_size)
    first = Gather.apply(states[0], packing.starts)[:, None]
    key, value = (
        packing.unpack(part(states[0]).unflatten(-1, heads)).transpose(1, 2)
        for part in (attention.key, attention.value)
    )
    query = attention.query(first).unflatten(-1, heads).transpose(1, 2)
    dropout = attention.dropout.p if attention.training else 0.0
    # (B, heads, 1, width)
    mixed = scaled_dot_product_attention(
        query, key, value, attn_mask=packing.mask, dropout_p=dropout, scale=attention.scaling
    )
    mixed = layer.attention.output(mixed.transpose(1, 2).flatten(2), first)
    return layer.feed_forward_chunk(mixed)


AttentionInterface.register(ATTENTION, attend)
