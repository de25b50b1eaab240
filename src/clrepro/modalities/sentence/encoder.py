"""Sentence encoders: a transformer, a pooling, and the head that training puts on top."""

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import torch
from torch import Tensor, nn

from clrepro.evaluation.pooling import Loadable, needs_all_layers, pool
from clrepro.evaluation.senteval.embed import positions
from clrepro.modalities.sentence import packing

if TYPE_CHECKING:
    from transformers import PretrainedConfig


def make_head(kind: str, width: int) -> nn.Module:
    """The training head, (B, D) -> (B, D), initialised as the released codes do.

    tanh: linear, then tanh; weights N(0, 0.02), bias 0 (SimCSE, Nie). linear: no activation; weights and bias
    N(0, 0.006) (Li on BERT). tanh_linear: tanh first (Li on RoBERTa).
    """
    linear = nn.Linear(width, width)
    if kind == "tanh":
        nn.init.normal_(linear.weight, std=0.02)
        nn.init.zeros_(linear.bias)
        return nn.Sequential(linear, nn.Tanh())
    nn.init.normal_(linear.weight, std=0.006)
    nn.init.normal_(linear.bias, std=0.006)
    return {"linear": nn.Sequential(linear), "tanh_linear": nn.Sequential(nn.Tanh(), linear)}[kind]


class SentenceEncoder(nn.Module):
    """token ids -> sentence vectors, with the head or without it.

    source: a folder in transformers' format, or a configuration of transformers, whose weights are drawn.
    """

    def __init__(
        self,
        source: "Path | PretrainedConfig",
        pooling: str = "cls",
        head: str | None = None,
        freeze_embeddings: bool = False,
    ):
        super().__init__()
        from transformers import AutoModel

        made = AutoModel.from_pretrained if isinstance(source, Path) else AutoModel.from_config
        self.transformer = made(source, add_pooling_layer=False, dtype=torch.float32)
        self.packs = self.transformer.config.model_type in packing.MODELS
        if self.packs:
            self.transformer.set_attn_implementation(packing.ATTENTION)
        self.pooling = pooling
        self.head = make_head(head, self.transformer.config.hidden_size) if head else None
        if freeze_embeddings:
            self.transformer.embeddings.requires_grad_(False)

    def forward(self, ids: Tensor, mask: Tensor, with_head: bool = False) -> Tensor:
        """ids, mask: (B, T) int64, on the CPU or where the model is. Returns (B, D)."""
        place = self.transformer.device
        if self.packs:
            hidden = packing.hidden_states(self.transformer, ids, mask, self.pooling)
        else:
            ids, every = ids.to(place, non_blocking=True), needs_all_layers(self.pooling)
            output = self.transformer(ids, mask.to(place, non_blocking=True), output_hidden_states=every)
            hidden = output.hidden_states if every else (output.last_hidden_state,)
        vectors = pool(hidden, mask.to(place, non_blocking=True), self.pooling)
        return self.head(vectors) if with_head and self.head is not None else vectors


def save(model: SentenceEncoder, tokenizer, folder: Path) -> None:
    """Write the encoder so that AutoModel and SentenceTransformer load it; the head goes beside it."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    model.transformer.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    if model.head is not None:
        save_file(
            {key: value.contiguous() for key, value in model.head.state_dict().items()},
            folder / "head.safetensors",
        )
    if model.pooling in get_args(Loadable):
        write_sentence_transformers_files(model, tokenizer, folder)


def write_sentence_transformers_files(model: SentenceEncoder, tokenizer, folder: Path) -> None:
    """The three small files by which sentence-transformers finds the encoder and its pooling."""
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    pooling = {
        "word_embedding_dimension": model.transformer.config.hidden_size,
        "pooling_mode_cls_token": model.pooling == "cls",
        "pooling_mode_mean_tokens": model.pooling == "avg",
    }
    longest = {"max_seq_length": positions(model.transformer, tokenizer), "do_lower_case": False}
    os.makedirs(folder / "1_Pooling", exist_ok=True)
    (folder / "modules.json").write_text(json.dumps(modules, indent=1), "utf-8")
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling, indent=1), "utf-8")
    (folder / "sentence_bert_config.json").write_text(json.dumps(longest, indent=1), "utf-8")
