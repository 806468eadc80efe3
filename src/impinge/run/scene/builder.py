"""What builders of worlds share: errors that name the line of what they are about, and obstacles."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from impinge.bodies.motion import Motion
from impinge.errors import InputError, SubjectError
from impinge.run.scene import meshes, models
from impinge.run.scene.toml import Document, Key, LocatedError
from impinge.shapes.files import read_mesh
from impinge.shapes.mesh import Mesh

__all__ = ["Builder"]


class Builder:
    """Adds one thing after the other."""

    def __init__(self, document: Document) -> None:
        self.document = document
        self.folder = document.path.parent

    @contextmanager
    def at(self, *key: str | int) -> Iterator[None]:
        """Errors inside are about this table, or about one of its keys if they begin with it."""
        try:
            yield
        except LocatedError:
            raise
        except SubjectError as error:
            said = str(error).removeprefix("material: ")  # the key tells
            said = said.replace("overlap=True", "overlap = true")
            raise self.document.error_in(self.key_of(*error.subject), said) from None
        except InputError as error:
            raise self.document.error_in(key, str(error)) from None

    def key_of(self, kind: str, name: int | str) -> Key:
        """Where the subject of an error comes from."""
        raise NotImplementedError

    def read_mesh(self, file: str) -> Mesh:
        """The mesh of the key `file`."""
        try:
            return read_mesh(self.document.beside(file))
        except InputError as error:
            raise InputError(f"file: {error}") from None

    def shape_of(self, shaped: models.Shaped, key: Key) -> Mesh:
        """The mesh of an obstacle, before it is put in its place."""
        if shaped.file is not None:
            return self.read_mesh(shaped.file)
        (shape,) = shaped.given(*models.SHAPES)
        with self.at(*key, shape):
            return meshes.mesh_of(shape, shaped)

    def motion_of(self, shaped: models.Shaped, key: Key) -> Motion | None:
        """How an obstacle moves."""
        if shaped.velocity is None and shaped.rotation is None:
            return None
        turning = None
        if shaped.rotation is not None:
            with self.at(*key, "rotation"):
                axis = meshes.unit("axis", np.array(shaped.rotation.axis))
            turning = (axis * shaped.rotation.rate, shaped.rotation.centre)
        return Motion(shaped.velocity or (0.0, 0.0, 0.0), turning)
