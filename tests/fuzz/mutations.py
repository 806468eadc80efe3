"""Valid files changed at random: as bytes, as text, and by what they hold.

Every function takes a random generator and what to change, and gives something that is probably wrong in one place or
two. Checksums and lengths are put right again where a reader would otherwise look no further.
"""

from __future__ import annotations

import io
import json
import random
import re
import struct
import tomllib
import zipfile
from collections.abc import Callable
from typing import Any

import numpy as np

from impinge.inside import files as solid_files
from impinge.output import checkpoint

_NUMBERS = (
    b"0", b"-1", b"1", b"2", b"3", b"255", b"65536", b"2147483647", b"-2147483648", b"4294967296", b"1000000000000",
    b"9223372036854775807", b"18446744073709551616", b"1" + b"0" * 30, b"9" * 5000, b"nan", b"inf", b"-inf", b"1e308",
    b"-1e308", b"1e-308", b"5e-324", b"1e999", b"0.0", b"-0.0", b"0.5", b"1e12", b"1e-12", b"1_0", b"0x10",
    "\u0663".encode(), "\u00b2".encode(),
)  # fmt: skip
_WORDS = (0, 1, 2, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**40, 2**62, 2**63, 2**64 - 1)
_FLOATS = (0.0, -0.0, -1.0, 1.0, 1e-300, 5e-324, 1e300, -1e300, 1.7e308, 1e12, 1e-12, float("nan"), float("inf"))
_INTEGERS = (0, -1, 1, 2, 3, 7, 1000, 2**20, 2**31 - 1, 2**31, 2**40, 2**62, -(2**31), 10**30)
_TEXTS = (
    "", " ", "x", "\u2028", "../../etc/passwd", "/dev/zero", "/etc/passwd", "http://127.0.0.1:9/x.ply", "a" * 3000,
    "\n", "\x1b[2J", "__class__", "save", "..", "con", "{0}", "%s",
)  # fmt: skip
_OPENERS = (b"[", b"{", b"(", b'"', b"<a>", b"[[", b"a.", b"\n", b"#", b",", b" ", b"\0", b"0", b"a=[")


def change_bytes(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A file with some bytes changed, moved, taken away or put in."""
    result = bytearray(data)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        result = bytearray(rng.choice(_CHANGES)(rng, bytes(result), others))
    return bytes(result)


def _place(rng: random.Random, data: bytes) -> int:
    """Somewhere; in the head more often than not, as lengths and kinds are there."""
    return rng.randrange(min(len(data), rng.choice((64, 1024, 1 << 30))) or 1)


def _flip(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    result = bytearray(data or b"\0")
    for _ in range(rng.choice((1, 1, 3, 20))):
        result[_place(rng, data)] ^= 1 << rng.randrange(8)
    return bytes(result)


def _overwrite(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, data)
    return data[:at] + bytes([rng.choice((0, 1, 0x7F, 0x80, 0xFF, 0x20, 0x0A))]) + data[at + 1 :]


def _lengths(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A whole number of 1 to 8 bytes replaced by a strange one, or its neighbour."""
    size = rng.choice((1, 2, 4, 8))
    at = _place(rng, data)
    at -= at % rng.choice((1, size))
    order = rng.choice(("little", "big"))
    old = int.from_bytes(data[at : at + size], order)  # type: ignore[arg-type]
    new = rng.choice((*_WORDS, old + 1, old - 1, 2 * old, old * 1000)) % (1 << 8 * size)
    return data[:at] + new.to_bytes(size, order) + data[at + size :]  # type: ignore[arg-type]


def _floats(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    value = rng.choice(_FLOATS)
    new = struct.pack("<d", value) if rng.random() < 0.5 else struct.pack("<f", np.float32(np.clip(value, -1e38, 1e38)))
    at = _place(rng, data)
    return data[:at] + new + data[at + len(new) :]


def _cut(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _remove(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, data)
    return data[:at] + data[at + rng.choice((1, 2, 8, 100)) :]


def _repeat(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, data)
    piece = data[at : at + rng.choice((1, 8, 100, 1000))]
    return data[:at] + piece * rng.choice((2, 3, 100)) + data[at:]


def _splice(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    other = rng.choice(others)
    return data[: rng.randrange(len(data) + 1)] + other[rng.randrange(len(other) + 1) :]


def _insert(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    at = _place(rng, data)
    return data[:at] + rng.choice(_OPENERS) * rng.choice((1, 2, 200, 5000, 50_000)) + data[at:]


def _number(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A number written in digits replaced by a strange one."""
    found = list(re.finditer(rb"-?\d+(\.\d+)?(e[-+]?\d+)?", data[: 1 << 16]))
    if not found:
        return _lengths(rng, data, others)
    chosen = rng.choice(found[: rng.choice((5, 50, 5000))])
    return data[: chosen.start()] + rng.choice(_NUMBERS) + data[chosen.end() :]


def _line(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    lines = data.split(b"\n")
    at, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    match rng.randrange(4):
        case 0:
            del lines[at]
        case 1:
            lines[at], lines[other] = lines[other], lines[at]
        case 2:
            lines.insert(at, lines[other])
        case _:
            words = lines[at].split(b" ")
            words[rng.randrange(len(words))] = rng.choice((*_NUMBERS, b"x", b"", b'"'))
            lines[at] = b" ".join(words)
    return b"\n".join(lines)


_CHANGES: list[Callable[[random.Random, bytes, list[bytes]], bytes]] = [
    _flip, _overwrite, _lengths, _lengths, _floats, _cut, _remove, _repeat, _splice, _insert, _number, _number, _number,
    _line, _line,
]  # fmt: skip


def change_value(rng: random.Random, value: Any) -> Any:
    """Another value in place of one that has no parts."""
    if isinstance(value, np.ndarray):
        return change_array(rng, value)
    others: list[Any] = [*_FLOATS, *_INTEGERS, *_TEXTS, True, False, [], {}, [[]], [1.0] * 3, {"x": 1}]
    if isinstance(value, bool) or rng.random() < 0.3:
        return rng.choice(others)
    if isinstance(value, int):
        return rng.choice((*_INTEGERS, value + 1, -value, value * 10**6))
    if isinstance(value, float):
        return rng.choice((*_FLOATS, -value, value * 1e9, value * 1e-9))
    if isinstance(value, str):
        return rng.choice((*_TEXTS, value + "x", value.upper()))
    return rng.choice(others)


def change_array(rng: random.Random, array: np.ndarray[Any, Any]) -> Any:
    """Other numbers, another shape or another type."""
    result = array.copy()
    match rng.randrange(7):
        case 0 | 1 | 2 if result.size:
            at = rng.randrange(result.size)
            value = rng.choice(_FLOATS if result.dtype.kind == "f" else _INTEGERS)
            if result.dtype.kind in "iu":
                info = np.iinfo(result.dtype)
                value = min(max(int(value), int(info.min)), int(info.max))
            result.flat[at] = value
        case 3:
            kind = rng.choice(("f8", "f4", "i8", "i4", "u1", "?", ">f8", ">i4"))
            with np.errstate(all="ignore"):
                result = result.astype(kind)
        case 4 if result.ndim:
            result = result[: rng.randrange(len(result) + 1)]
        case 5 if result.ndim:
            result = np.concatenate([result, result[-1:], result[-1:]])
        case _:
            shapes = [(-1,), (1, -1), (-1, 1)] + [(-1, k) for k in (2, 3, 4) if result.size and result.size % k == 0]
            result = result.reshape(rng.choice(shapes)) if result.size else np.zeros((0, 7))
    return result


def change_tree(rng: random.Random, tree: Any) -> Any:
    """A tree of dictionaries and lists with one leaf, or one branch, changed."""
    if isinstance(tree, dict | list | tuple) and len(tree) and rng.random() > 0.05:
        if isinstance(tree, dict):
            key = rng.choice(list(tree))
            if rng.random() < 0.04:
                return {name: value for name, value in tree.items() if name != key}
            if rng.random() < 0.04:
                return {**tree, rng.choice(_TEXTS).replace("/", "|").replace("\n", "|") or "x": tree[key]}
            return {**tree, key: change_tree(rng, tree[key])}
        items = list(tree)
        at = rng.randrange(len(items))
        roll = rng.random()
        if roll < 0.04:
            del items[at]
        elif roll < 0.08:
            items.insert(at, items[at])
        else:
            items[at] = change_tree(rng, items[at])
        return tuple(items) if isinstance(tree, tuple) else items
    return change_value(rng, tree)


def change_toml(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A scene that says something else, still as TOML."""
    content = tomllib.loads(data.decode())
    for _ in range(rng.choice((1, 1, 2, 4))):
        changed = change_tree(rng, content)
        content = changed if isinstance(changed, dict) else content
    return "".join(f"{json.dumps(name)} = {_toml(value)}\n" for name, value in content.items()).encode(
        "utf-8", "replace"
    )


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(name)} = {_toml(inner)}" for name, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    if isinstance(value, float):
        text = repr(value)
        return text if set(text) & set(".n") else text.replace("e", ".0e")
    return json.dumps(value)


def change_npy(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """An array whose head says something else than what follows."""
    size = int.from_bytes(data[8:10], "little")
    head, rest = data[10 : 10 + size].decode("latin1"), data[10 + size :]
    shape = re.search(r"'shape': \(([^)]*)\)", head)
    parts = [part.strip() for part in shape[1].split(",") if part.strip()] if shape else []
    sizes = ("0", "-1", "1", "3", "1000000", str(2**31), str(2**62), str(10**18), str(10**30), "True", "1.5")
    for _ in range(rng.choice((1, 2))):
        if rng.random() < 0.3:
            parts.insert(rng.randrange(len(parts) + 1), rng.choice(sizes))
        elif parts:
            parts[rng.randrange(len(parts))] = rng.choice(sizes)
    kinds = ("<f8", ">f8", "<f4", "<i8", "|O", "|b1", "<U9", "|V0", "|S0", "<c16", "<M8[s]", "|u1", "<f2")
    kind = rng.choice(("<f8", rng.choice(kinds)))
    order = rng.choice(("True", "False", "False", "None"))
    text = f"{{'descr': '{kind}', 'fortran_order': {order}, 'shape': ({', '.join(parts)},), }}\n".encode()
    return data[:8] + len(text).to_bytes(2, "little") + text + rest


def change_npz(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """An archive whose members are changed, with the checksums that belong to them."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    name = rng.choice(list(members))
    match rng.randrange(6):
        case 0:
            members[name] = change_npy(rng, members[name], others)
        case 1:
            members[rng.choice(("points.npy", "x.npy", "../x.npy", "faces.npy"))] = members.pop(name)
        case 2:
            members[name] = members[name][:128] + bytes(rng.choice((10**6, 10**8)))
        case 3:
            array = np.load(io.BytesIO(members[name]), allow_pickle=False)
            buffer = io.BytesIO()
            np.save(buffer, change_array(rng, array), allow_pickle=False)
            members[name] = buffer.getvalue()
        case 4:
            members[name] = change_npy(rng, members[name], others)
            members[name] += bytes(rng.choice((10**6, 10**8)))
        case _:
            members[name] = change_bytes(rng, members[name], others)
    buffer = io.BytesIO()
    kind = rng.choice((zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA))
    if max(map(len, members.values())) > 10**5 and kind == zipfile.ZIP_STORED:
        kind = zipfile.ZIP_DEFLATED
    with zipfile.ZipFile(buffer, "w", kind) as archive:
        for member, content in members.items():
            archive.writestr(member, content)
    packed = buffer.getvalue()
    return change_bytes(rng, packed, others) if rng.random() < 0.1 else packed


def change_solid(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A prepared solid with other arrays, and the checksum of these."""
    with np.load(io.BytesIO(data), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    name = rng.choice(list(arrays))
    roll = rng.random()
    if roll < 0.05:
        del arrays[name]
    elif roll < 0.4 and arrays[name].nbytes:
        flat = bytearray(arrays[name].tobytes())
        arrays[name] = np.frombuffer(_same_size(rng, bytes(flat)), arrays[name].dtype).reshape(arrays[name].shape)
    elif arrays[name].dtype.kind in "fiu":
        arrays[name] = change_array(rng, arrays[name])
    arrays.pop("checksum", None)
    head = {key: arrays.pop(key) for key in ("format", "method") if key in arrays}
    buffer = io.BytesIO()
    total = np.array(solid_files._checksum(arrays))
    np.savez(buffer, **head, checksum=total, **arrays)  # type: ignore[arg-type]
    return buffer.getvalue()


def _same_size(rng: random.Random, data: bytes) -> bytes:
    changed = rng.choice((_flip, _overwrite, _lengths, _floats))(rng, data, [])
    return (changed + data)[: len(data)]


def change_checkpoint(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A checkpoint that holds something else, with a checksum that is right."""
    if rng.random() < 0.5:
        return change_hdf5(rng, data, others)
    head = checkpoint._HEAD.fullmatch(data[:512])
    assert head is not None
    content = checkpoint.load(io_path(data), head[1].decode(), int(head[2]))
    for _ in range(rng.choice((1, 1, 3))):
        changed = change_tree(rng, content)
        content = changed if isinstance(changed, dict) else content
    path = io_path(data)
    try:
        checkpoint.save(path, content, head[1].decode(), int(head[2]))
    except Exception:  # what cannot be saved
        return change_hdf5(rng, data, others)
    with open(path, "rb") as file:
        return file.read()


def change_hdf5(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A checkpoint with other bytes, or another index, and a checksum that is right."""
    head = checkpoint._HEAD.fullmatch(data[:512])
    assert head is not None
    at = int(head[3])
    body, index = data[512:at], data[at:]
    match rng.randrange(3):
        case 0:
            body = change_bytes(rng, body, [other[512:] for other in others])
        case 1:
            index = change_bytes(rng, index, others)
        case _:
            index = change_json(rng, index, others)
    label = data[: head.start(3)] + f"{512 + len(body)}\n".encode()
    checksum = checkpoint._checksum(label, memoryview(body + index))
    return (label + f"blake2b {checksum}\n".encode()).ljust(512, b"\0") + body + index


def io_path(data: bytes) -> str:
    """A file with some bytes, the same one every time."""
    import os
    import tempfile

    path = os.path.join(tempfile.gettempdir(), f"impinge-fuzz-{os.getpid()}.h5")
    with open(path, "wb") as file:
        file.write(data)
    return path


def change_glb(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A .glb whose JSON says something else, with lengths that are right."""
    size = int.from_bytes(data[12:16], "little")
    tree = change_tree(rng, json.loads(data[20 : 20 + size]))
    text = json.dumps(tree).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + size :]
    return (
        data[:8] + (20 + len(text) + len(rest)).to_bytes(4, "little") + len(text).to_bytes(4, "little") + data[16:20]
        + text + rest
    )  # fmt: skip


def change_json(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """A .json or .gltf that says something else."""
    return json.dumps(change_tree(rng, json.loads(data))).encode()


SPECIAL: dict[str, Callable[[random.Random, bytes, list[bytes]], bytes]] = {
    "toml": change_toml, "npy": change_npy, "npz": change_npz, "solid": change_solid, "h5": change_checkpoint,
    "glb": change_glb, "gltf": change_json, "json": change_json,
}  # fmt: skip


def change(rng: random.Random, kind: str, data: bytes, others: list[bytes]) -> bytes:
    """A file of some kind, changed by one of the ways there are."""
    if kind in SPECIAL and rng.random() < 0.7:
        return SPECIAL[kind](rng, data, others)
    return change_bytes(rng, data, others)
