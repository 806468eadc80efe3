"""What scene files say of shapes: files, numbers to make them of, and how they are brought into place."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from impinge.run.scene.tables import (
    Allowed,
    Colour,
    NotNegative,
    Number,
    Outline,
    Positive,
    Segments,
    Table,
    Vector3,
    about,
    needed,
)

__all__ = [
    "CLOSED", "SHAPES", "Block", "Closed", "Cone", "Cylinder", "Lathe", "Placed", "Plate", "Prism", "Rotation",
    "Shaped", "Sphere", "Torus", "Turn", "Wedge",
]  # fmt: skip


class Cone(Table):
    """A funnel about the z axis, from its orifice at z = 0 upwards."""

    orifice: NotNegative = needed("Radius at the lower end.", "m")
    radius: Positive = needed("Radius at the upper end.", "m")
    height: Positive = needed("Height of the cone.", "m")
    rim: NotNegative = about("Height of a cylinder on top of it.", "m", 0.0)
    segments: Segments = about("Number of flat parts around.", default=48)


class Wedge(Table):
    """A hopper with a slot along y, from its orifice at z = 0 upwards: two slopes, and two ends unless open."""

    orifice: NotNegative = needed("Half the width of the slot, along x.", "m")
    width: Positive = needed("Half the width at the top, along x.", "m")
    height: Positive = needed("Height of the slopes.", "m")
    length: Positive = needed("Length along y, about 0.", "m")
    rim: NotNegative = about("Height of upright walls on top of the slopes.", "m", 0.0)
    ends: bool = about("Whether there are walls at both ends.", default=True)


class Cylinder(Table):
    """A cylinder around the origin, such as a drum."""

    radius: Positive = needed("Radius.", "m")
    length: Positive = needed("Length.", "m")
    axis: Literal["x", "y", "z"] = about("Its axis.", default="z")
    ends: bool = about("Whether both ends are closed.", default=True)
    segments: Segments = about("Number of flat parts around.", default=48)


class Sphere(Table):
    """A sphere around the origin."""

    radius: Positive = needed("Radius.", "m")
    level: Annotated[int, Field(ge=0, le=8), Allowed("a whole number from 0 to 8")] = about(
        "How fine: 20 · 4^level faces.", default=3
    )


class Lathe(Table):
    """A body of revolution about the z axis."""

    profile: Annotated[
        list[Annotated[list[float], Field(min_length=2, max_length=2)]],
        Field(min_length=2),
        Allowed("a list of at least two points [r, z], r at least 0"),
    ] = needed(
        "Its outline, as distances from the axis and heights, in either direction; closed at the axis if an end has "
        "r = 0.", "m",
    )  # fmt: skip
    segments: Segments = about("Number of flat parts around.", default=48)


class Block(Table):
    """A box with sides along the axes."""

    lower: Vector3 = needed("Lower corner.", "m")
    upper: Vector3 = needed("Upper corner.", "m")


class Torus(Table):
    """A ring about the z axis."""

    radius: Positive = needed("Of the circle in the middle of the tube.", "m")
    tube: Positive = needed("Radius of the tube, below the other one.", "m")
    segments: Segments = about("Number of flat parts around the axis.", default=32)
    rings: Segments = about("Number of flat parts around the tube.", default=16)


class Prism(Table):
    """A prism along z over a polygon, from z = −height / 2 to height / 2: an L, a U, a star, a hook."""

    outline: Outline = needed("Corners, in either sense of rotation; edges must not cross.", "m")
    height: Positive = needed("Height.", "m")


class Plate(Table):
    """A rectangle around the origin, in the plane z = 0."""

    size: Annotated[list[Positive], Field(min_length=2, max_length=2), Allowed("two numbers above 0")] = needed(
        "Along x and y.", "m"
    )


class Turn(Table):
    """A rotation that brings a shape into place."""

    axis: Vector3 = needed("Axis through the origin, of any length.")
    angle: Number = needed("Angle, counter-clockwise seen against the axis.", "°")


class Rotation(Table):
    """Steady rotation."""

    axis: Vector3 = needed("Axis, of any length.")
    rate: Number = needed("Angle per time.", "rad/s")
    centre: Vector3 = about("A point on the axis at the start.", "m", [0.0, 0.0, 0.0])


class Placed(Table):
    """How a shape is brought into place."""

    scale: Positive = about("Size, at first.", default=1.0)
    rotate: Turn | None = about("Rotation, then.")
    translate: Vector3 | None = about("Where it is put, at last.", "m")


class Closed(Table):
    """A shape of rigid bodies."""

    file: str | None = about("Mesh: .ply, .obj, .off, .stl, .glb, .gltf or .npz; in the scene's folder.")
    cylinder: Cylinder | None = about("Instead: a cylinder.")
    sphere: Sphere | None = about("Instead: a sphere of triangles.")
    lathe: Lathe | None = about("Instead: a body of revolution.")
    block: Block | None = about("Instead: a box.")
    torus: Torus | None = about("Instead: a ring.")
    prism: Prism | None = about("Instead: a prism over a polygon.")
    scale: Positive = about("Size, at first.", default=1.0)
    resolution: Positive | None = about(
        "Distance of the points of the surface that feel contact; some two thousand points by default.", "m"
    )
    random_turns: bool = about("Whether bodies at random places are turned at random, too.", default=True)
    rotate: Turn | None = about("Rotation of all about the origin of the shape.")


class Shaped(Placed):
    """A body of triangles, at rest or in steady motion."""

    file: str | None = about("Mesh: .ply, .obj, .off, .stl, .glb, .gltf or .npz; in the scene's folder.")
    cone: Cone | None = about("Instead: a funnel.")
    wedge: Wedge | None = about("Instead: a hopper with a slot.")
    cylinder: Cylinder | None = about("Instead: a cylinder or drum.")
    sphere: Sphere | None = about("Instead: a sphere.")
    lathe: Lathe | None = about("Instead: a body of revolution, such as a pulley.")
    block: Block | None = about("Instead: a box.")
    torus: Torus | None = about("Instead: a ring.")
    prism: Prism | None = about("Instead: a prism over a polygon.")
    plate: Plate | None = about("Instead: a rectangle.")
    velocity: Vector3 | None = about("It moves steadily.", "m/s")
    rotation: Rotation | None = about("It turns steadily.")
    colour: Colour | None = about(
        "In pictures and reports, where it is opaque then: red, green and blue, two hexadecimal digits each. "
        "Grey by default, and clear among spheres and polyhedra."
    )

    @model_validator(mode="after")
    def _check_keys(self) -> Shaped:
        self.only_one_of("file", *SHAPES)
        return self


CLOSED = ("cylinder", "sphere", "lathe", "block", "torus", "prism")
SHAPES = ("cone", "wedge", *CLOSED, "plate")
