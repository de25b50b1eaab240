"""The list of sources."""

from clrepro.sources.source import sources


def test_every_source_is_complete():
    for name, entry in sources().items():
        assert entry.licence, name
        assert entry.revision, name
        assert entry.kind == "generated" or entry.mirror, name
        assert entry.url or entry.sha256 or entry.kind in ("generated", "folder"), name
        assert entry.sha256 is None or len(entry.sha256) == 64, name
