"""Write the embedded demo data as if it had been fetched."""

from clrepro.demo import graphs, molecules, sentences
from clrepro.paths import sha256, tree_sha256, write_json
from clrepro.sources.source import Source


def generate(source: Source) -> None:
    """Generate a source of kind `generated` and write its record last."""
    source.folder.mkdir(parents=True, exist_ok=True)
    if source.name == "demo-corpus":
        path = source.folder / "text.txt"
        sentences.write_corpus(path, source.sentences)
        digest = sha256(path)
    elif source.graphs or source.molecules:
        path = source.folder / f"{source.name}.zip"
        (graphs if source.graphs else molecules).write(path)
        digest = sha256(path)
    elif source.images:  # another package's: clrepro.modalities.image.image_sets reads it there
        path, digest = source.folder, None
    else:
        path = source.folder / "tree"
        sentences.write_senteval(path)
        digest = tree_sha256(path)
    write_json(
        source.record,
        {"source": source.name, "revision": source.revision, "sha256": digest, "path": str(path)},
    )
