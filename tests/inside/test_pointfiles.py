"""Files of points: every format read and written, in chunks of any size, and what is said of damaged ones."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from impinge.errors import InputError
from impinge.inside.pointfiles import open_points, open_sink, source, text

RNG = np.random.default_rng(7)
POINTS = np.concatenate(
    [
        RNG.normal(size=(60, 3)),
        [[0.1, -0.0, 1e-300], [1e300, 5e-324, 1 / 3], [1, 2, 3]],
        RNG.normal(size=(40, 3)),
    ]
)
CLASSES = RNG.integers(-1, 2, len(POINTS)).astype(np.int8)
FORMATS = (".npy", ".npz", ".csv", ".xyz", ".ply")


def read(path, size=10**6):
    chunks = list(open_points(path).chunks(size))
    return np.concatenate(chunks) if chunks else np.empty((0, 3))


def table(rows, separator=",", head=""):
    return head + "".join(separator.join(map(repr, row)) + "\n" for row in rows)


def ply(properties, data, kind="binary_little_endian", count=103, before="", after=""):
    head = f"ply\nformat {kind} 1.0\ncomment a test\n{before}element vertex {count}\n"
    head += "".join(f"property {p}\n" for p in properties) + after + "end_header\n"
    return head.encode() + data


def with_point_files():
    """Name of the variant -> (ending, bytes of a file that holds POINTS)."""
    rows = POINTS.tolist()
    more = np.column_stack([np.arange(len(POINTS)), POINTS[:, ::-1], POINTS[:, 0]]).tolist()
    yield "csv", ".csv", table(rows)
    yield "csv with header", ".csv", table(rows, head="x,y,z\n")
    yield "csv with other columns", ".csv", table(more, head="id,Z,Y,X,more\n")
    yield "csv with an index", ".csv", table(more, head=",z,y,x,more\n")
    yield "csv by position", ".csv", table([[*r, 1] for r in rows], head="")
    yield "csv with three other names", ".csv", table(rows, head="a,b,c\n")
    yield "csv with names in quotes", ".csv", table(more, head='"id","z","y","x","more"\n')
    yield "csv from ParaView", ".csv", table(more, head='"id","Points:2","Points:1","Points:0","more"\n')
    yield "csv with numbers in quotes", ".csv", "".join(f'"{x!r}","{y!r}","{z!r}"\n' for x, y, z in rows)
    yield (
        "csv with commas in quotes",
        ".csv",
        "name,x,y,z\n" + "".join(f'"a,1,2,3,4,5",{x!r},{y!r},{z!r}\n' for x, y, z in rows),
    )
    yield "csv with text last", ".csv", "".join(f"{x!r},{y!r},{z!r},rock #1\n" for x, y, z in rows)
    yield (
        "csv with # first",
        ".csv",
        "colour,x,y,z\n" + "".join(f"#ff,{x!r},{y!r},{z!r}\n" for x, y, z in rows),
    )
    yield "csv with semicolons", ".csv", table(rows, ";", "x;y;z\n")
    yield "csv with tabs", ".csv", table(rows, "\t", "x\ty\tz\n")
    yield (
        "csv with tabs and spaces",
        ".csv",
        "a b\tx\ty\tz\n" + "".join(f"some words\t{x!r}\t{y!r}\t{z!r}\n" for x, y, z in rows),
    )
    yield "csv with spaces", ".csv", table(rows, "   ", "# made by hand\nx y z\n")
    yield "csv with names in a comment", ".csv", table(more, " ", "# made by hand\n# id z y x more\n")
    yield "csv from Windows", ".csv", "\ufeff" + table(rows, head="x,y,z\n").replace("\n", "\r\n")
    yield "csv with a mark, no header", ".csv", "\ufeff" + table(rows)
    yield "csv with blank lines", ".csv", "\n\n" + table(rows).replace("\n", "\n\n# note\n") + "\n"
    yield "csv without last newline", ".csv", table(rows).rstrip("\n")
    yield "csv with spaces around", ".csv", table(rows, " , ")
    yield "xyz", ".xyz", table(rows, " ")
    yield "xyz with more", ".xyz", table([[*r, 255, 0] for r in rows], " ")
    yield "xyz from CloudCompare", ".xyz", table([[*r, 255] for r in rows], " ", "//X Y Z R\n")
    chem = "".join(f"Si {x!r} {y!r} {z!r} 0.5\n" for x, y, z in rows)
    yield "xyz of chemists", ".xyz", f"{len(rows)}\nx y z of 3 things\n{chem}"
    yield "xyz of chemists, blank end", ".xyz", f" {len(rows)} \n\n{chem}\n \n"
    yield "xyz of chemists, numbers", ".xyz", f"{len(rows)}\n\n{chem.replace('Si', '14')}"
    yield "xyz of chemists, no element", ".xyz", f"{len(rows)}\n\n{table(rows, ' ')}"
    yield (
        "xyz, extended",
        ".xyz",
        f'{len(rows)}\nLattice="1 0 0 0 1 0 0 0 1" Properties=id:I:1:f:R:2:pos:R:3:q:R:1\n'
        + "".join(f"1 0.5 0.5 {x!r} {y!r} {z!r} 7\n" for x, y, z in rows),
    )
    yield "ply as text", ".ply", ply(["double x", "double y", "double z"], table(rows, " ").encode(), "ascii")
    text_ply = ply(
        ["uchar red", "float64 z", "float64 y", "float64 x"],
        b"1 2\n3 4\n" + "".join(f"9 {z!r} {y!r} {x!r}\n" for x, y, z in rows).encode() + b"3 0 1 2\n" * 5,
        "ascii",
        before="element thing 2\nproperty int a\nproperty int b\n",
        after="element face 5\nproperty list uchar int vertex_indices\n",
    )
    yield "ply as text with more", ".ply", text_ply
    for kind, sign in (("binary_little_endian", "<"), ("binary_big_endian", ">")):
        yield (
            f"ply {kind}",
            ".ply",
            ply([f"double {c}" for c in "xyz"], POINTS.astype(f"{sign}f8").tobytes(), kind),
        )
        data = b"".join(struct.pack(f"{sign}dBdfd", z, 1, x, 0.5, y) for x, y, z in rows)
        faces = struct.pack(f"{sign}Biii", 3, 0, 1, 2) * 3
        yield (
            f"ply {kind} with more",
            ".ply",
            ply(
                ["double z", "uchar red", "double x", "float q", "double y"],
                struct.pack(f"{sign}hh", 1, 2) + data + faces,
                kind,
                before="element thing 2\nproperty short a\n",
                after="element face 3\nproperty list uchar int vertex_indices\n",
            ),
        )
    for name, array in (
        ("", POINTS),
        (" in Fortran order", np.asfortranarray(POINTS)),
        (" of >f8", POINTS.astype(">f8")),
    ):
        buffer = io.BytesIO()
        np.save(buffer, array)
        yield f"npy{name}", ".npy", buffer.getvalue()
        for save in (np.savez, np.savez_compressed):
            buffer = io.BytesIO()
            save(buffer, points=array, other=np.zeros(2))
            yield f"npz{name} by {save.__name__}", ".npz", buffer.getvalue()
    buffer = io.BytesIO()
    np.savez(buffer, anything=POINTS)
    yield "npz with one array", ".npz", buffer.getvalue()


VARIANTS = {name: (ending, data) for name, ending, data in with_point_files()}


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize("name", VARIANTS)
def test_reads(name, tmp_path, monkeypatch):
    ending, data = VARIANTS[name]
    path = write(tmp_path / f"a{ending}", data)
    points = open_points(path)
    assert points.fraction == 0
    assert points.count in (None, len(POINTS))
    for block in (text._BLOCK, 300):  # text is parsed in blocks; small ones show the seams
        monkeypatch.setattr(text, "_BLOCK", block)
        for size in (1, 7, len(POINTS) - 1, len(POINTS), len(POINTS) + 1):
            chunks = list(points.chunks(size))
            assert [len(c) for c in chunks[:-1]] == [size] * (len(chunks) - 1)
            assert all(c.flags.c_contiguous and c.dtype == np.float64 for c in chunks)
            result = np.concatenate(chunks)
            assert result.tobytes() == POINTS.tobytes()  # also the sign of zero
            assert points.count == len(POINTS)
            assert points.fraction == 1


@pytest.mark.parametrize("dtype", ["f4", "f2", "i8", "i4", "u1", ">i2", "g"])
def test_reads_other_numbers(dtype, tmp_path):
    array = np.arange(30).reshape(10, 3).astype(dtype)
    np.save(tmp_path / "a.npy", array)
    np.savez_compressed(tmp_path / "a.npz", array)
    for name in ("a.npy", "a.npz"):
        np.testing.assert_array_equal(read(tmp_path / name, 4), array.astype(float))


@pytest.mark.parametrize("ending", FORMATS)
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_writes(ending, size, tmp_path):
    np.save(tmp_path / "points.npy", POINTS)
    points = open_points(tmp_path / "points.npy")
    path = tmp_path / f"out{ending}"
    done = 0
    with open_sink(path, points) as sink:
        for chunk in points.chunks(size):
            sink.write(chunk, CLASSES[done : done + len(chunk)])
            done += len(chunk)
            assert not path.exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["points.npy", path.name])
    check_written(path)


def check_written(path):
    if path.suffix == ".npy":
        result = np.load(path)
        assert result.dtype == np.int8
    elif path.suffix == ".npz":
        with np.load(path) as data:
            assert list(data) == ["classification"]
            result = data["classification"]
        assert result.dtype == np.int8
    elif path.suffix == ".csv":
        lines = path.read_text().splitlines()
        assert lines[0] == "x,y,z,classification"
        values = np.array([[float(v) for v in line.split(",")] for line in lines[1:]])
        assert values[:, :3].tobytes() == POINTS.tobytes()
        result = values[:, 3]
    elif path.suffix == ".xyz":
        values = np.array([[float(v) for v in line.split()] for line in path.read_text().splitlines()])
        assert values[:, :3].tobytes() == POINTS.tobytes()
        result = values[:, 3]
    else:
        head, _, data = path.read_bytes().partition(b"end_header\n")
        assert f"element vertex {len(POINTS)}\n".encode() in head
        rows = np.frombuffer(data, [("p", "<f8", 3), ("classification", "i1")])
        assert rows["p"].tobytes() == POINTS.tobytes()
        result = rows["classification"]
    np.testing.assert_array_equal(result, CLASSES)
    if path.suffix in (".csv", ".xyz", ".ply"):
        assert read(path).tobytes() == POINTS.tobytes()  # what is written can be read again


def test_trimesh_reads_what_is_written(tmp_path):
    import trimesh

    with open_sink(tmp_path / "a.ply") as sink:
        sink.write(POINTS[:60], CLASSES[:60])
    cloud = trimesh.load(tmp_path / "a.ply")
    np.testing.assert_array_equal(cloud.vertices, POINTS[:60])


def test_xyz_keeps_its_head(tmp_path):
    write(tmp_path / "in.xyz", VARIANTS["xyz of chemists"][1])
    points = open_points(tmp_path / "in.xyz")
    with open_sink(tmp_path / "out.xyz", points) as sink:
        for chunk in points.chunks():
            sink.write(chunk, CLASSES)
    lines = (tmp_path / "out.xyz").read_text().splitlines()
    assert int(lines[0]) == len(POINTS) == len(lines) - 2
    assert lines[1].strip() == "Properties=pos:R:3:classification:I:1"
    again = open_points(tmp_path / "out.xyz")
    assert again.count == len(POINTS)
    assert read(tmp_path / "out.xyz").tobytes() == POINTS.tobytes()


EMPTY = {
    ".npy": lambda path: np.save(path, np.empty((0, 3))),
    ".npz": lambda path: np.savez(path, points=np.empty((0, 3))),
    ".csv": lambda path: path.write_text("x,y,z\n"),
    ".xyz": lambda path: path.write_text(""),
    ".ply": lambda path: path.write_bytes(ply(["double x", "double y", "double z"], b"", count=0)),
}


@pytest.mark.parametrize("ending", FORMATS)
def test_no_points(ending, tmp_path):
    EMPTY[ending](tmp_path / f"a{ending}")
    points = open_points(tmp_path / f"a{ending}")
    assert list(points.chunks()) == []
    assert points.count == 0
    with open_sink(tmp_path / f"b{ending}", points):
        pass
    if ending == ".npy":
        assert np.load(tmp_path / "b.npy").shape == (0,)
    elif ending == ".npz":
        assert np.load(tmp_path / "b.npz")["classification"].shape == (0,)
    else:
        assert read(tmp_path / f"b{ending}").shape == (0, 3)


@pytest.mark.parametrize("data", ["", "\n\n", "# x y z\n", "0\n\n", "0\ncomment", "x,y,z", "\ufeff"], ids=repr)
def test_no_points_in_text(data, tmp_path):
    for ending in (".xyz", ".csv"):
        if not (ending == ".csv" and data.startswith("0")):
            assert read(write(tmp_path / f"a{ending}", data)).shape == (0, 3)


def array_file(ending, array):
    buffer = io.BytesIO()
    (np.save if ending == ".npy" else np.savez)(buffer, array)
    return buffer.getvalue()


XYZ = ["double x", "double y", "double z"]
BAD = {
    "csv with other names": (".csv", "id,a,b,c\n1,2,3,4\n", "header names none of them x, y and z"),
    "ending": (".txt", "1 2 3",
        "found points with the ending '.txt', expected one of .npy, .npz, .csv, .xyz, .ply"),
    "no ending": ("", "1 2 3", "found points with the ending '', expected"),
    "csv word": (".csv", "x,y,z\n1,2,3\n4,abc,6\n", r"row 1 \(line 3\): found 'abc', expected a number"),
    "csv word first": (".csv", "1,abc,3\n", r"row 0 \(line 1\): found 'abc', expected a number"),
    "csv words only": (".csv", "a,b,c\nd,e,f\n", r"row 0 \(line 2\): found 'd', expected a number"),
    "csv empty field": (".csv", "1,2,3\n4,,6\n", r"row 1 \(line 2\): found '', expected a number"),
    "csv decimal comma": (".csv", "1;2;3\n1,5;2;3\n", r"row 1 \(line 2\): found '1,5', expected a number"),
    "csv short row": (".csv", "x,y,z\n1,2,3\n\n# note\n4,5\n",
        r"row 1 \(line 5\) has 2 columns, expected at least 3"),
    "csv one column": (".csv", "1\n2\n", r"row 0 \(line 1\) has 1 column, expected at least 3"),
    "csv decimal comma first": (".csv", "1,5;2,0;3,1\n", r"row 0 \(line 1\): found '1,5', .* with a decimal point"),
    "csv two columns": (".csv", "1,2\n3,4\n", r"row 0 \(line 1\) has 2 columns, expected at least 3"),
    "csv full width": (".csv", "x,y,z\n１,2,3\n".encode(), r"found '１', expected a number of plain \(ASCII\) signs"),
    "csv of UTF-16": (".csv", "1,2,3\n".encode("utf-16"), "found text in UTF-16, expected a file saved as UTF-8"),
    "csv underscore": (".csv", "1_0,2,3\n", r"row 0 \(line 1\): found '1_0', expected a number"),
    "csv nan": (".csv", "x,y,z\n1,2,3\n\n4,nan,6\n", r"row 1 \(line 4\) is not finite \(4.0, nan, 6.0\)"),
    "csv nan first": (".csv", "nan,nan,nan\n", r"row 0 \(line 1\) is not finite \(nan, nan, nan\)"),
    "csv inf": (".csv", "1,2,3\n1,2,-inf\n", r"row 1 \(line 2\) is not finite \(1.0, 2.0, -inf\)"),
    "csv too large": (".csv", "1,2,1e999\n", r"row 0 \(line 1\) is not finite \(1.0, 2.0, inf\)"),
    "csv quoted line break": (".csv", 'x,y,z,t\n1,2,3,"a\n4,5,6,b"\n',
        "after line 2: a text in quotes runs over"),
    "csv binary": (".csv", bytes(range(256)) * 10, "row 0 .*expected"),
    "csv one endless line": (".csv", b"1" * (text._BLOCK + 5), "begins with a line of more than .* bytes"),
    "csv endless line later": (".csv", b"1,2,3\n" + b"1" * (2 * text._BLOCK),
        "line 2 has more than .* bytes"),
    "xyz nan": (".xyz", "1 2 3\n1 2 nan 7\n", r"row 1 \(line 2\) is not finite \(1.0, 2.0, nan\)"),
    "xyz nan of chemists": (".xyz", "2\n\nC 1 2 3\nC 1 2 nan\n", r"row 1 \(line 4\) is not finite"),
    "xyz short": (".xyz", "3\n\nC 1 2 3\nC 1 2 3\n", "ends early: it announces 3 rows, but holds 2"),
    "xyz two frames": (".xyz", "1\n\nC 1 2 3\n1\n\nC 1 2 3\n", "holds more than the 1 rows it announces"),
    "xyz without positions": (".xyz", "1\nProperties=id:I:1\n1\n",
        "found Properties=id:I:1 on line 2, expected pos"),
    "npy empty": (".npy", b"", "cannot be read as .npy"),
    "npy text": (".npy", b"1 2 3\n4 5 6\n", "cannot be read as .npy"),
    "npy cut": (".npy", array_file(".npy", POINTS)[:-1], "ends early: it announces 103 rows, but holds 102"),
    "npy cut head": (".npy", array_file(".npy", POINTS)[:50], "cannot be read as .npy"),
    "npy shape": (".npy", array_file(".npy", POINTS.T),
        r"found numbers of shape \(3, 103\), expected shape \(n, 3\)"),
    "npy one point": (".npy", array_file(".npy", np.zeros(3)), r"found numbers of shape \(3,\), expected"),
    "npy scalar": (".npy", array_file(".npy", np.float64(1)), r"found numbers of shape \(\), expected"),
    "npy complex": (".npy", array_file(".npy", np.zeros((2, 3), complex)),
        r"found complex128 of shape \(2, 3\)"),
    "npy text array": (".npy", array_file(".npy", np.array([["a", "b", "c"]])),
        r"found <U1 of shape \(1, 3\)"),
    "npy bool": (".npy", array_file(".npy", np.zeros((2, 3), bool)), r"found bool of shape \(2, 3\)"),
    "npy objects": (".npy", array_file(".npy", np.array([[1, 2, None]])), "found Python objects of shape"),
    "npy nan": (".npy", array_file(".npy", [[0, 0, 0], [0, np.nan, 1]]),
        r"row 1 is not finite \(0.0, nan, 1.0\)"),
    "npz text": (".npz", b"1 2 3\n", "cannot be read as .npz"),
    "npz cut": (".npz", array_file(".npz", POINTS)[:-10], "cannot be read as .npz"),
    "npz nan": (".npz", array_file(".npz", np.full((1, 3), np.nan)),
        r"row 0 is not finite \(nan, nan, nan\)"),
    "npz shape": (".npz", array_file(".npz", np.zeros((3, 2))), r"found numbers of shape \(3, 2\)"),
    "ply text": (".ply", b"1 2 3\n", "cannot be read as .ply .the first line is not 'ply'"),
    "ply empty": (".ply", b"", "cannot be read as .ply"),
    "ply no end": (".ply", b"ply\nformat ascii 1.0\n", "cannot be read as .ply .the head has no end"),
    "ply strange line": (".ply", b"ply\nhello world\nend_header\n", "line 2 of the head is 'hello world'"),
    "ply no vertices": (".ply", b"ply\nformat ascii 1.0\nend_header\n",
        r"found the elements \(none\), expected vertex"),
    "ply no z": (".ply", ply(XYZ[:2], b""), "the vertices have no property z, only x, y"),
    "ply list": (".ply", ply([*XYZ, "list uchar int ring"], b""), "the vertices have the list property ring"),
    "ply twice x": (".ply", ply([*XYZ, "int x"], b""), "two properties of the vertices have the same name"),
    "ply format": (".ply", ply(XYZ, b"", "zipped"), "found the format 'zipped', expected one of ascii"),
    "ply cut": (".ply", ply(XYZ, POINTS.tobytes()[:-1]),
        "ends early: it announces 103 vertices, but holds 102"),
    "ply text cut": (".ply", ply(XYZ, b"1 2 3\n", "ascii"), "ends early: it announces 103 rows, but holds 1"),
    "ply text nan": (".ply", ply(XYZ, b"1 2 3\n1 2 nan\n", "ascii", 2), r"row 1 \(line 10\) is not finite"),
    "ply nan": (".ply", ply(XYZ, np.full((1, 3), np.nan).tobytes(), count=1), "row 0 is not finite"),
    "ply lists first": (
        ".ply",
        ply(XYZ, b"", before="element face 1\nproperty list uchar int v\n"),
        "lists stand before the vertices",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_refuses(name, tmp_path):
    ending, data, message = BAD[name]
    path = write(tmp_path / f"a{ending}", data)
    with pytest.raises(InputError, match=message) as caught:
        read(path, 1)
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("ending", FORMATS)
def test_damage_in_a_later_chunk(ending, tmp_path, monkeypatch):
    """The row is that of the file, whatever the chunk it is found in."""
    monkeypatch.setattr(text, "_BLOCK", 256)
    points = POINTS.copy()
    points[70, 1] = np.nan
    with open_sink(tmp_path / f"a{ending}") as sink:
        sink.write(points, CLASSES)
    if ending == ".npy":
        np.save(tmp_path / "a.npy", points)
    if ending == ".npz":
        np.savez_compressed(tmp_path / "a.npz", points=points)
    line = {".csv": r" \(line 72\)", ".xyz": r" \(line 71\)"}.get(ending, "")
    for size in (1, 8, 70, 71, 1000):
        with pytest.raises(InputError, match=rf"a{ending}: row 70{line} is not finite \("):
            read(tmp_path / f"a{ending}", size)


def test_npz_damaged_inside(tmp_path):
    data = bytearray(array_file(".npz", RNG.normal(size=(1000, 3))))
    data[5000] ^= 255
    with pytest.raises(InputError, match=r"a\.npz: is damaged .*CRC"):
        read(write(tmp_path / "a.npz", bytes(data)), 100)


def test_npz_announces_too_much(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("points.npy", array_file(".npy", POINTS)[:-8])
    with pytest.raises(InputError, match="ends early: it announces 103 rows"):
        read(tmp_path / "a.npz", 10)


def test_npz_with_many_arrays(tmp_path):
    np.savez(tmp_path / "a.npz", one=POINTS, two=POINTS)
    with pytest.raises(InputError, match="found the arrays one, two, expected one called points, or a single array"):
        open_points(tmp_path / "a.npz")


def test_files_that_are_none(tmp_path):
    with pytest.raises(InputError, match=r"no\.csv: no such file"):
        open_points(tmp_path / "no.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match=r"folder\.csv: is a folder"):
        open_points(tmp_path / "folder.csv")


def test_sinks_refuse(tmp_path):
    np.save(tmp_path / "a.npy", POINTS)
    points = open_points(tmp_path / "a.npy")
    for name, message in {
        "a.npy": "is the file of the points, expected another",
        "b.txt": "found output with the ending '.txt', expected one of .npy",
        "folder.npy": "is not a regular file",
    }.items():
        if name.startswith("folder"):
            (tmp_path / name).mkdir()
        with pytest.raises(InputError, match=rf"{name}: {message}"):
            open_sink(tmp_path / name, points)
    with (
        pytest.raises(InputError, match=r"a.csv: cannot be written \(No such file"),
        open_sink(tmp_path / "no" / "a.csv"),
    ):
        pass
    with (
        pytest.raises(InputError, match="classes: found 2 for 3 points"),
        open_sink(tmp_path / "c.csv") as sink,
    ):
        sink.write(POINTS[:3], CLASSES[:2])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.npy", "folder.npy"]


@pytest.mark.parametrize("ending", FORMATS)
def test_a_failed_run_leaves_nothing(ending, tmp_path):
    path = write(tmp_path / f"old{ending}", b"what was here")

    def interrupted():
        with open_sink(path) as sink:
            sink.write(POINTS, CLASSES)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    assert path.read_bytes() == b"what was here"


def test_size_is_checked(tmp_path):
    np.save(tmp_path / "a.npy", POINTS)
    with pytest.raises(InputError, match="size: found 0, expected an integer of at least 1"):
        next(open_points(tmp_path / "a.npy").chunks(0))


@given(st.lists(st.integers(1, 9)), st.integers(1, 12))
def test_rows_keep_their_order(lengths, size):
    rows = np.arange(3.0 * sum(lengths)).reshape(-1, 3)
    parts = np.split(rows, np.cumsum(lengths)[:-1]) if lengths else []
    chunks = list(source._of_size(iter(parts), size))
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(0 < len(chunk) <= size for chunk in chunks)
    np.testing.assert_array_equal(np.concatenate([np.empty((0, 3)), *chunks]), rows)
