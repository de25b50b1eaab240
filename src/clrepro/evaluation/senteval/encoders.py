"""Any sentence encoder as one function, list[str] -> (n, D) float32, for `clrepro.evaluation.senteval.evaluate`."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from safetensors import SafetensorError
from torch import Tensor, nn

from clrepro.errors import UserError, unknown
from clrepro.evaluation.pooling import POOLINGS, needs_all_layers, pool
from clrepro.evaluation.senteval import hub
from clrepro.evaluation.senteval.embed import embed_distinct, positions, tokenise
from clrepro.evaluation.senteval.functions import is_own, own_encoder


@dataclass(frozen=True)
class Encoder:
    """encode(sentences) -> (n, D) float32 in the order of the sentences; ``origin`` says in words what it is.

    revision: the hub's commit of a model that came from there.
    """

    origin: str
    encode: Callable[[list[str]], np.ndarray]
    revision: str | None = None

    def __call__(self, sentences: list[str]) -> np.ndarray:
        return self.encode(sentences)


def load_encoder(name_or_path: str | Path, pooling: str | None = None, device: str = "auto") -> Encoder:
    """An encoder from a model, from stored embeddings or from a function.

    - a folder or hub name of sentence-transformers (it has a modules.json), with ``pooling`` left out: all its modules;
    - any other folder or hub name that transformers' AutoModel loads, with a ``pooling`` of `POOLINGS`;
    - stored embeddings: an .npz file with the arrays ``sentences`` (n strings) and ``vectors`` (n, D), or an .npy file
      of vectors with a .txt file of the same name beside it, UTF-8, one sentence a line. Prefer the pair for many
      sentences: NumPy pads all strings of an .npz file to the longest;
    - a function, as ``module:name`` or ``file.py:name``: a list of sentences -> their vectors (n, D).

    A name that is no local path is looked up on the Hugging Face hub (or in its cache, with HF_HUB_OFFLINE=1); for a
    local folder nothing is fetched. device: "auto", "cpu", "cuda" or "mps".

    Sentences go in as they are, without prompts, cleaning or lower-casing beyond the tokenizer's own. SimCSE's program
    evaluates with no truncation: it passes no maximal length, so a sentence with more tokens than the encoder has
    positions ends it in an index error. Here such a sentence is cut at the last position, and no other is; a
    sentence-transformers model's own max_seq_length, often smaller, is not applied. On SentEval's data it makes no
    difference: the longest sentence has 168 tokens in BERT's uncased vocabulary.

    Bad input is a UserError: an unknown pooling, a folder without a model, weights that the checkpoint lacks (a pooler
    that was not trained would be random), sentences without a stored vector.
    """
    path = Path(name_or_path)
    if pooling == "cls_before_pooler":
        raise UserError("SimCSE's cls_before_pooler is `cls` here, and its `cls` is `pooler`")
    if pooling is not None and pooling not in POOLINGS:
        raise unknown("pooling", pooling, POOLINGS)
    if path.suffix in (".npz", ".npy"):
        if pooling is not None:
            raise UserError(f"{path}: stored embeddings are pooled already; leave out pooling '{pooling}'")
        return Encoder(f"{path} (stored embeddings)", stored(path))
    if not path.exists() and is_own(str(name_or_path)):
        if pooling is not None:
            raise UserError(f"{name_or_path}: a function returns vectors of sentences; leave out pooling '{pooling}'")
        return Encoder(f"{name_or_path} (function)", own_encoder(str(name_or_path)))
    # a hub name has one slash at most and does not begin with a dot
    if not path.is_dir() and (path.is_absolute() or len(path.parts) > 2 or str(name_or_path).startswith(".")):
        raise UserError(f"model: there is no folder {path}")
    from clrepro.device import choose_device

    chosen = choose_device(device)
    if not path.is_dir():
        hub.announce(str(name_or_path))
    try:
        if pooling is None:
            origin, encode = "sentence-transformers", sentence_transformer(name_or_path, chosen)
        else:
            origin, encode = pooling, transformer(name_or_path, pooling, chosen)
        revision = None if path.is_dir() else hub.commit(str(name_or_path))
        return Encoder(f"{name_or_path} ({origin})", encode, revision)
    except (OSError, ValueError, RuntimeError, SafetensorError) as failure:
        problem = str(failure).strip().split("\n")[0]
        place = "" if path.is_dir() else " (no local folder, so looked up on the hub)"
        raise UserError(f"model: {name_or_path}{place} does not load: {problem}") from failure


def sentence_transformer(name_or_path: str | Path, device: torch.device) -> Callable[[list[str]], np.ndarray]:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer
    from sentence_transformers.util import is_sentence_transformer_model

    local = Path(name_or_path).is_dir()
    if not is_sentence_transformer_model(str(name_or_path), local_files_only=local):
        choices = "\n".join(f"  {name}: {meaning}" for name, meaning in POOLINGS.items())
        reach = "" if local else ", or is neither a local folder nor within reach on the hub"
        raise UserError(
            f"{name_or_path} has no modules.json that says how tokens become a sentence{reach}; "
            f"choose a pooling:\n{choices}"
        )
    model = SentenceTransformer(str(name_or_path), device=str(device), local_files_only=local).eval()
    if not isinstance(model[0], Transformer):  # static word vectors, for instance: no token batches to make
        return lambda sentences: model.encode(sentences, prompt="").astype(np.float32)
    tokenizer, longest, width = (
        model.tokenizer,
        positions(model[0].model, model.tokenizer),
        model.get_embedding_dimension(),
    )
    check_vocabulary(model[0].model, tokenizer, name_or_path)

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        return model({"input_ids": ids, "attention_mask": mask})["sentence_embedding"][:, :width]

    return lambda sentences: embed_distinct(
        forward,
        sentences,
        lambda distinct: tokenise(tokenizer, distinct, longest),
        width,
        tokenizer.pad_token_id or 0,
        device,
    )


def transformer(name_or_path: str | Path, pooling: str, device: torch.device) -> Callable[[list[str]], np.ndarray]:
    from transformers import AutoModel, AutoTokenizer

    local = Path(name_or_path).is_dir()
    model, report = AutoModel.from_pretrained(
        name_or_path, dtype=torch.float32, local_files_only=local, output_loading_info=True
    )
    if model.config.is_encoder_decoder:
        raise UserError(f"{name_or_path} is an encoder with a decoder; only encoders have sentence vectors here")
    tokenizer = AutoTokenizer.from_pretrained(name_or_path, local_files_only=local)
    check_vocabulary(model, tokenizer, name_or_path)
    missing = sorted(report["missing_keys"])
    if pooling == "pooler" and (getattr(model, "pooler", None) is None or any("pooler." in key for key in missing)):
        raise UserError(f"{name_or_path} has no trained pooler; use pooling 'cls'")
    lost = [key for key in missing if "pooler." not in key]
    if lost:
        raise UserError(f"{name_or_path} lacks {len(lost)} weights, {lost[0]} among them: the checkpoint is incomplete")
    model.eval().to(device)
    longest, every = positions(model, tokenizer), needs_all_layers(pooling)

    def forward(ids: Tensor, mask: Tensor) -> Tensor:
        output = model(input_ids=ids, attention_mask=mask, output_hidden_states=every)
        if pooling == "pooler":
            return output.pooler_output
        return pool(output.hidden_states if every else (output.last_hidden_state,), mask, pooling)

    return lambda sentences: embed_distinct(
        forward,
        sentences,
        lambda distinct: tokenise(tokenizer, distinct, longest),
        model.config.hidden_size,
        tokenizer.pad_token_id or 0,
        device,
    )


def check_vocabulary(model: nn.Module, tokenizer, name_or_path: str | Path) -> None:
    """Refuse a tokenizer that is not this model's: transformers makes an empty one where its files are missing."""
    words, rows = len(tokenizer), model.get_input_embeddings().num_embeddings
    if words > rows or words < 2 * len(tokenizer.all_special_tokens):
        raise UserError(
            f"{name_or_path}: its tokenizer knows {words:,} tokens, its model {rows:,}; are tokenizer files missing, "
            "or another model's?"
        )


def stored(file: Path) -> Callable[[list[str]], np.ndarray]:
    """Vectors by sentence. The file is read once, now."""
    try:
        sentences, vectors = read_npz(file) if file.suffix == ".npz" else read_npy(file)
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, TypeError, AttributeError) as failure:
        raise UserError(f"embeddings: {file} cannot be read: {type(failure).__name__}: {failure}") from failure
    if not isinstance(vectors, np.ndarray) or vectors.dtype.kind != "f":
        raise UserError(f"embeddings: {file} holds no array of vectors of floating-point numbers")
    vectors = vectors.astype(np.float32)
    if vectors.ndim != 2 or len(vectors) != len(sentences):
        raise UserError(f"{file}: {len(sentences):,} sentences, but vectors of shape {vectors.shape}; expected (n, D)")
    if not np.isfinite(vectors).all():
        bad = int(np.flatnonzero(~np.isfinite(vectors).all(1))[0])
        raise UserError(f"{file}: the vector of sentence {bad + 1} is not finite: '{shortened(sentences[bad])}'")
    row_of = {sentence: row for row, sentence in enumerate(sentences)}
    for row, sentence in enumerate(sentences):
        if row_of[sentence] != row and (vectors[row] != vectors[row_of[sentence]]).any():
            raise UserError(f"{file}: two different vectors are stored for the sentence '{shortened(sentence)}'")

    def encode(asked: list[str]) -> np.ndarray:
        missing = [sentence for sentence in dict.fromkeys(asked) if sentence not in row_of]
        if missing:
            raise UserError(
                f"{file}: {len(missing):,} of {len(set(asked)):,} sentences have no stored vector, the first: "
                f"'{shortened(missing[0])}'. Store one for every sentence of the tasks, its tokens joined by blanks"
            )
        return vectors[[row_of[sentence] for sentence in asked]]

    return encode


def read_npz(file: Path) -> tuple[list[str], np.ndarray]:
    if not file.is_file():
        raise UserError(f"embeddings: {file} is missing")
    with np.load(file) as content:
        if not {"sentences", "vectors"} <= set(content):
            raise UserError(f"{file} does not hold the arrays 'sentences' and 'vectors', but: {', '.join(content)}")
        sentences, vectors = content["sentences"], content["vectors"]
    if sentences.ndim != 1 or sentences.dtype.kind != "U":
        raise UserError(f"{file}: 'sentences' has to be an array of strings, one for each row of 'vectors'")
    return sentences.tolist(), vectors


def read_npy(file: Path) -> tuple[list[str], np.ndarray]:
    lines = file.with_suffix(".txt")
    for part in (file, lines):
        if not part.is_file():
            raise UserError(f"embeddings: {part} is missing; {file} needs {lines.name} beside it")
    # not splitlines: it would also break a sentence at U+0085, U+2028 and their like
    return lines.read_text("utf-8").removesuffix("\n").split("\n"), np.load(file)


def shortened(sentence: str) -> str:
    return sentence if len(sentence) <= 80 else f"{sentence[:80]}..."
