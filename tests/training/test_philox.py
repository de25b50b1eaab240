"""The random numbers of augmentations."""

from clrepro.training.philox import philox


def test_philox_gives_the_published_numbers():
    # known answers of Random123, the generator's reference implementation
    for counter, key, expected in (
        ([0] * 4, [0] * 2, "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            "d16cfe09 94fdcceb 5001e420 24126ea1",
        ),
    ):
        assert [f"{word:08x}" for word in philox(counter, key).tolist()] == expected.split()
