"""Checkpoints: what is loaded is what was saved, to the bit, or there is an error."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from impinge.errors import InputError
from impinge.output import load, save
from tests.output.disks import full_after

NAMES = st.text(st.characters(categories=["L", "N", "P", "S", "Zs"]), min_size=1, max_size=8).filter(
    lambda name: name.isprintable() and "/" not in name and name != "."
)
DTYPES = st.sampled_from(["f2", "f4", "f8", ">f8", "i1", "i2", "i4", "i8", "u1", "u8", ">u4", "?"])
ARRAYS = DTYPES.flatmap(
    lambda dtype: hnp.arrays(dtype, hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
)
LEAVES = ARRAYS | st.none() | st.booleans() | st.integers() | st.floats() | st.text()
TREES = st.recursive(LEAVES, lambda below: st.lists(below, max_size=3) | st.dictionaries(NAMES, below, max_size=3))
CONTENT = {"centres": np.arange(6.0).reshape(2, 3), "step": 7, "name": "drum", "nested": {"list": [1.5, None, (True,)]}}


def assert_same(found: Any, wanted: Any) -> None:
    assert type(found) is type(wanted)
    if isinstance(wanted, dict):
        assert list(found) == list(wanted)
        for key in wanted:
            assert_same(found[key], wanted[key])
    elif isinstance(wanted, list | tuple):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, np.ndarray | np.generic | float):
        one, other = np.asarray(found), np.asarray(wanted)
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert one.tobytes() == other.tobytes()
    else:
        assert found == wanted


@given(content=st.dictionaries(NAMES, TREES, max_size=4))
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, content: dict[str, Any]) -> None:
    path = tmp_path_factory.mktemp("checkpoint") / "a.h5"
    save(path, content, "world", 1)
    assert_same(load(path, "world", 1), content)


def test_special_values(tmp_path: Path) -> None:
    payload = np.array([0x7FF8000000000123, 0xFFF0000000000001, 0x8000000000000000], np.uint64).view(np.float64)
    content = {
        "payload": payload,
        "numbers": {"nan": float(payload[0]), "minus zero": -0.0, "inf": -np.inf, "tiny": 5e-324},
        "numpy": [np.float64(0.1), np.int32(7), np.bool_(True), np.uint64(2**64 - 1), np.float32(0.1)],
        "generator": np.random.default_rng(5).bit_generator.state,  # has integers of 128 bits
        "texts": ["", "a\0b", "\udc80", "Größe\n"],
        "empty": {"dict": {}, "list": [], "tuple": (), "array": np.zeros((0, 3)), "none": None},
        "without axes": [np.array(True), np.array(1.5)],
        "strided": np.arange(24).reshape(4, 6)[::2, ::3],
        "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "z": 1, "a": 2, "..": 3,
    }  # fmt: skip
    save(tmp_path / "a.h5", content, "world", 1)
    assert_same(load(tmp_path / "a.h5", "world", 1), content)


def test_loaded_arrays_can_be_written(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", {"x": np.zeros(3), "y": np.zeros(())}, "world", 1)
    for array in load(tmp_path / "a.h5", "world", 1).values():
        array[...] = 1


def test_same_content_same_bytes(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 1)
    time.sleep(1.1)  # HDF5 would write the second of the day
    save(tmp_path / "b.h5", CONTENT, "world", 1)
    assert (tmp_path / "a.h5").read_bytes() == (tmp_path / "b.h5").read_bytes()


def test_other_programs_can_look_inside(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 1)
    with h5py.File(tmp_path / "a.h5") as file:
        np.testing.assert_array_equal(file["centres"][()], CONTENT["centres"])
        assert file["nested/list/0"][()] == 1.5


def test_every_damage_is_seen(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 1)
    whole = (tmp_path / "a.h5").read_bytes()
    damaged = tmp_path / "b.h5"
    rng = np.random.default_rng(0)
    for place in [*range(0, 512, 5), *rng.integers(512, len(whole), 300)]:
        data = bytearray(whole)
        data[place] ^= 1 << rng.integers(8)
        damaged.write_bytes(data)
        with pytest.raises(InputError, match=r"b.h5: found .*, expected a checkpoint of impinge"):
            load(damaged, "world", 1)
    for size in [0, 1, 100, 511, 512, 513, 2048, len(whole) - 1]:
        damaged.write_bytes(whole[:size])
        with pytest.raises(InputError, match=r"b.h5: found .*, expected a checkpoint of impinge"):
            load(damaged, "world", 1)
    damaged.write_bytes(whole + b"\0")
    with pytest.raises(InputError, match="its checksum is wrong"):
        load(damaged, "world", 1)


def test_other_files(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = 1
    (tmp_path / "text.h5").write_text("no checkpoint\n" * 100)
    for name in ("other.h5", "text.h5"):
        with pytest.raises(InputError, match=f"{name}: found something else"):
            load(tmp_path / name, "world", 1)
    with pytest.raises(InputError, match=r"path: found .*nothing.h5', which does not exist, expected a checkpoint"):
        load(tmp_path / "nothing.h5", "world", 1)


def test_kind_and_version(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 2)
    with pytest.raises(InputError, match="found a checkpoint of kind 'world', expected 'cloth'"):
        load(tmp_path / "a.h5", "cloth", 2)
    with pytest.raises(InputError, match="found version 2, of a newer impinge, expected 1"):
        load(tmp_path / "a.h5", "world", 1)
    with pytest.raises(InputError, match="found version 2, of an older impinge, expected 3"):
        load(tmp_path / "a.h5", "world", 3)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({"a": {"b": [1, object()]}}, "a/b/1: found object, expected"),
        ({"a": np.array(["x"])}, "a: found an array of <U1"),
        ({"a": np.array([1j])}, "a: found an array of complex128"),
        ({"a": np.array([None])}, "a: found an array of object"),
        ({"a": b"bytes"}, "a: found bytes"),
        ({"a": {1: 2}}, "content: found the name 'a/1'"),
        ({"a/b": 1}, "content: found the name 'a/b'"),
        ({"": 1}, "content: found the name ''"),
        ({".": 1}, "content: found the name"),
        ({"a\0": 1}, "content: found the name"),
    ],
)
def test_bad_content(tmp_path: Path, content: dict[str, Any], message: str) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 1)
    with pytest.raises(InputError, match=message):
        save(tmp_path / "a.h5", content, "world", 1)
    assert_same(load(tmp_path / "a.h5", "world", 1), CONTENT)
    assert len(list(tmp_path.iterdir())) == 1


def test_bad_labels(tmp_path: Path) -> None:
    for kind in ("", "two words", "ä", "x" * 65, 3):
        with pytest.raises(InputError, match="kind: found"):
            save(tmp_path / "a.h5", {}, kind, 1)
    with pytest.raises(InputError, match="version: found -1"):
        save(tmp_path / "a.h5", {}, "world", -1)


def test_full_disk(tmp_path: Path) -> None:
    save(tmp_path / "a.h5", CONTENT, "world", 1)
    with full_after(20_000), pytest.raises(OSError):
        save(tmp_path / "a.h5", {"large": np.zeros(100_000)}, "world", 1)
    assert_same(load(tmp_path / "a.h5", "world", 1), CONTENT)
    assert [path.name for path in tmp_path.iterdir()] == ["a.h5"]


@pytest.mark.parametrize("path", ["", ".", "/", "a\0b", b"a.h5", 0.5, None, ["a.h5"]])
def test_bad_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: Any) -> None:
    monkeypatch.chdir(tmp_path)
    for call in (lambda: save(path, CONTENT, "world", 1), lambda: load(path, "world", 1)):
        with pytest.raises(InputError, match=r"path: found .*, expected (the path of )?a file"):
            call()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_devices_are_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="which is a device, expected a file"):
        save(tmp_path / "pipe", CONTENT, "world", 1)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(os.name != "posix", reason="links need rights elsewhere")
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    link = tmp_path / "link.h5"
    link.symlink_to(tmp_path / "file.h5")
    save(link, {"a": 1}, "test", 1)
    assert link.is_symlink()
    assert load(tmp_path / "file.h5", "test", 1) == {"a": 1}


def test_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("no", "file"):
        with pytest.raises(InputError, match=r"path: found .*a.h5', expected a file in a folder that exists"):
            save(tmp_path / folder / "a.h5", CONTENT, "world", 1)
