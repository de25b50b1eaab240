"""Members of archives that are not what they should be, and pickles that run code."""

import os
import pickle
import tarfile

# archives


def member(name: str, kind: bytes = tarfile.REGTYPE, link: str = "", size: int = 1) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, link, size if kind == tarfile.REGTYPE else 0
    return info


# pickles


def touching(file: str) -> dict[str, bytes]:
    """Pickles that make a file when they are loaded, by every door of the format."""
    command = f"touch {file}".encode()
    short = b"\x8c" + bytes([len(command)]) + command

    class Reduced:
        def __reduce__(self):
            return os.system, (command.decode(),)

    return {
        "reduce, protocol 0": pickle.dumps(Reduced(), 0),
        "reduce, protocol 2": pickle.dumps([{"data": Reduced()}], 2),
        "reduce, protocol 5": pickle.dumps(Reduced(), 5),
        "global": b"cposix\nsystem\n(S'" + command + b"'\ntR.",
        "instance": b"(S'" + command + b"'\niposix\nsystem\n.",
        "object": b"(cposix\nsystem\nS'" + command + b"'\no.",
        "stack global": b"\x80\x04\x8c\x05posix\x8c\x06system\x93" + short + b"\x85R.",
        "evaluated": b'cbuiltins\neval\n(S\'__import__("os").system("' + command + b"\")'\ntR.",
        "an attribute of what is admitted": (
            b"\x80\x04\x8c\x05numpy\x8c\x0flib._datasource\x93\x30cposix\nsystem\n" + short + b"\x85R."
        ),
    }
