"""Archives cannot write elsewhere or fill the disk."""

import io
import lzma
import os
import shutil
import tarfile
from pathlib import Path

import pytest

from clrepro.errors import UserError
from clrepro.sources import download, unpack
from tests.harmful import member

HOSTILE = {
    "a path that climbs out": [member("../escaped")],
    "one that climbs out later": [member("inside/../../escaped")],
    "an absolute path": [member("/tmp/clrepro-escaped")],
    "a symbolic link": [member("link", tarfile.SYMTYPE, "..")],
    "a file behind a symbolic link": [member("link", tarfile.SYMTYPE, ".."), member("link/escaped")],
    "a hard link": [member("link", tarfile.LNKTYPE, "../../secret")],
    "a device": [member("device", tarfile.CHRTYPE)],
    "a pipe": [member("pipe", tarfile.FIFOTYPE)],
}


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:xz"])
@pytest.mark.parametrize("how", [None, *HOSTILE])
def test_a_tar_archive_unpacks_files_and_folders_inside_its_folder_or_nothing(tmp_path, how, mode):
    (tmp_path / "secret").write_text("secret")
    raw, place = tmp_path / "archive.tar", tmp_path / "work"
    place.mkdir()
    with tarfile.open(raw, mode) as archive:
        for info in [member("STS/good"), *HOSTILE.get(how, [])]:
            archive.addfile(info, io.BytesIO(b"x"))
    if how is None:
        unpack.unpack_tar(raw, place / "tree")
        assert (place / "tree/STS/good").read_bytes() == b"x"
        return
    with pytest.raises(UserError, match="is a link, a device, or lies outside its folder"):
        unpack.unpack_tar(raw, place / "tree")
    assert not any(place.iterdir())
    assert sorted(os.listdir(tmp_path)) == ["archive.tar", "secret", "work"]
    assert not Path("/tmp/clrepro-escaped").exists()


@pytest.fixture
def little_space(monkeypatch):
    """A disk with a million bytes to spare."""
    usage = shutil.disk_usage("/")._replace(free=download.SPARE + 1_000_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage)


def test_what_the_disk_cannot_hold_is_refused_before_it_is_unpacked(tmp_path, little_space):
    bomb, text = tmp_path / "bomb.tar", tmp_path / "text.xz"
    bomb.write_bytes(member("STS/vast", size=2 << 40).tobuf())  # a header is enough
    text.write_bytes(lzma.compress(bytes(20 << 20)))
    with pytest.raises(UserError, match=r"bomb.tar, unpacked, needs 2,199,023,255,552 bytes .* 1,000,000 to spare"):
        unpack.unpack_tar(bomb, tmp_path / "tree")
    with pytest.raises(UserError, match="text.xz, unpacked, at least needs .* 1,000,000 to spare"):
        unpack.unpack_text(text, tmp_path / "text.txt")
    assert sorted(os.listdir(tmp_path)) == ["bomb.tar", "text.xz"]
