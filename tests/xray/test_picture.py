"""Pictures of the x-ray."""

from clrepro.xray.picture import write, xray
from clrepro.xray.subject import subject


def test_pictures_are_the_same_bytes_twice(tmp_path):
    result = xray(subject("met", "written", {}))
    for first, second in zip(write(result, tmp_path / "a"), write(result, tmp_path / "b"), strict=True):
        assert first.read_bytes() == second.read_bytes()
