"""Backbones: pretrained weights, or a small BERT-shaped encoder pretrained on the corpus at hand."""

from pathlib import Path

import torch
from transformers import AutoConfig, AutoTokenizer, BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

from clrepro.errors import UserError
from clrepro.modalities.sentence.corpus import TokenisedCorpus
from clrepro.modalities.sentence.pretraining import SPECIAL, pretrain
from clrepro.paths import sha256

MAX_POSITIONS = 512


def describe(path: Path) -> dict:
    """The record of a backbone: where it is, its size, and the sha256 of its weights."""
    for needed in ("config.json", "model.safetensors"):
        if not (path / needed).is_file():
            raise UserError(f"backbone: {path / needed} is missing; a folder in transformers' format is needed")
    size = AutoConfig.from_pretrained(path)
    return {
        "path": str(path),
        "sha256": sha256(path / "model.safetensors"),
        "layers": size.num_hidden_layers,
        "hidden_size": size.hidden_size,
        "vocabulary": size.vocab_size,
    }


def load_tokenizer(path: Path):
    try:
        return AutoTokenizer.from_pretrained(path)
    except Exception as failure:
        raise UserError(f"backbone: no tokenizer can be loaded from {path} ({failure})") from None


def make_tokenizer(sentences: list[str], vocabulary: int) -> PreTrainedTokenizerFast:
    """A lower-casing WordPiece tokenizer with BERT's special tokens, trained on the sentences.

    The same sentences give the same vocabulary: the trainer breaks ties by token ids, which it hands to "##x"
    pieces in the random order of a hash table, so these pieces get their ids beforehand.
    """
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

    def empty(vocab: dict[str, int] | None = None) -> Tokenizer:
        tokenizer = Tokenizer(models.WordPiece(vocab, unk_token="[UNK]"))
        tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
        tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
        tokenizer.decoder = decoders.WordPiece()
        return tokenizer

    learner = empty()
    alphabet = sorted({letter for sentence in sentences for letter in learner.normalizer.normalize_str(sentence)})
    fixed = SPECIAL + [f"##{letter}" for letter in alphabet if not letter.isspace()]
    trainer = trainers.WordPieceTrainer(
        vocab_size=vocabulary, special_tokens=fixed, show_progress=False, min_frequency=2
    )
    learner.train_from_iterator(sentences, trainer)
    tokenizer = empty(learner.get_vocab())
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        model_max_length=MAX_POSITIONS,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


def make_scratch(
    spec: dict,
    tokenizer: PreTrainedTokenizerFast,
    corpus: TokenisedCorpus,
    path: Path,
    stop,
    device: str = "cpu",
) -> dict | None:
    """Initialise an encoder by ``spec``, pre-train it as a masked language model, save it with its tokenizer.

    The state of the pre-training lies beside ``path``. Returns what `pretraining.pretrain` does; None without one.
    """
    if spec["hidden_size"] % spec["heads"]:
        raise UserError(f"backbone: hidden_size {spec['hidden_size']} is not a multiple of heads {spec['heads']}")
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=spec["hidden_size"],
        num_hidden_layers=spec["layers"],
        num_attention_heads=spec["heads"],
        intermediate_size=spec["intermediate_size"] or 4 * spec["hidden_size"],
        max_position_embeddings=MAX_POSITIONS,
        hidden_dropout_prob=spec["dropout"],
        attention_probs_dropout_prob=spec["dropout"],
        pad_token_id=tokenizer.pad_token_id,
    )
    torch.manual_seed(spec["seed"])
    model = BertForMaskedLM(config)
    about = pretrain(model, tokenizer, corpus, spec, path.parent, stop, device) if spec["mlm_epochs"] else None
    path.mkdir(parents=True, exist_ok=True)
    tokenizer.save_pretrained(path)
    model.bert.save_pretrained(path)
    return about
