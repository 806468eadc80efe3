"""What a scene file of cables and cloth may say, as `models` says of spheres; what both may say is there."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from impinge.run.scene.models import (
    Allowed,
    NotNegative,
    Number,
    Outputs,
    Placed,
    Positive,
    Run,
    Shaped,
    Table,
    Vector3,
    Word,
    about,
    needed,
    several,
)

__all__ = ["Body", "Cable", "Cloth", "Fixed", "Obstacle", "Output", "Soft", "World"]

Nodes = Annotated[int, Field(ge=2), Allowed("a whole number of at least 2")]
Around = Annotated[int, Field(ge=3), Allowed("a whole number of at least 3")]
Sides = Annotated[list[Positive], Field(min_length=2, max_length=2), Allowed("two numbers above 0")]
Grid = Annotated[list[Nodes], Field(min_length=2, max_length=2), Allowed("two whole numbers of at least 2")]
Points = Annotated[list[Vector3], Field(min_length=2), Allowed("a list of at least two points of 3 numbers")]
Numbers = Annotated[list[int], Field(min_length=1), Allowed("a list of whole numbers")]
Compression = Annotated[float, Field(ge=0, lt=1), Allowed("a number of at least 0 and below 1")]
Formats = Annotated[
    list[Literal["vtp", "obj", "ply", "glb"]],
    Field(min_length=1),
    Allowed('a list of "vtp" (ParaView), "obj", "ply" and "glb" (one animation)'),
]


class World(Table):
    """Gravity, and how time passes."""

    gravity: Vector3 = about("Gravity.", "m/s²", [0.0, 0.0, -9.81])
    dt: Positive = about("Time step; shorter ones are taken where something would pass through something.", "s", 0.01)
    integrator: Literal["implicit-euler", "bdf2", "explicit"] = about(
        "Implicit Euler, of first order; BDF2, of second; or forces of the start of a step, for short steps only.",
        default="implicit-euler",
    )
    friction: NotNegative = about("Coefficient of Coulomb friction of all contacts.", default=0.0)
    wind: Vector3 = about("Velocity of the air, which takes along what has a drag.", "m/s", [0.0, 0.0, 0.0])
    response: Literal["qp", "penalty", "impulse"] = about(
        "What contacts do: one program with the motion, in steps that are certified; or springs, or impulses after the "
        "step, as in the literature, which certify nothing, let things pass, and have neither friction nor bdf2.",
        default="qp",
    )
    penalty: Positive | None = about(
        'Stiffness of the springs of response "penalty"; by default the mean mass of nodes by dt².', "N/m"
    )


class Output(Outputs):
    """What is written of cables and cloth, and when; everything is optional."""

    formats: Formats = about("Files of a frame; glb is one file for all.", default=["vtp"])


class Line(Table):
    """Nodes on a straight line, at equal distances."""

    start: Vector3 = needed("First node.", "m")
    end: Vector3 = needed("Last node.", "m")
    nodes: Nodes = needed("How many.")


class Circle(Table):
    """A closed ring around the z axis, at z = 0."""

    radius: Positive = needed("Radius.", "m")
    nodes: Around = needed("How many nodes.")


class Helix(Table):
    """A winding about the z axis, from z = 0 upwards, that begins on the side of +x."""

    radius: Positive = needed("Radius.", "m")
    height: NotNegative = needed("How high it rises in all.", "m")
    turns: Positive = needed("How often it goes around.")
    nodes: Nodes = needed("How many nodes.")


class StrainLimits(Table):
    """What the lengths of edges keep to, whatever pulls; only what is driven or in the way can make them give way."""

    upper: NotNegative | None = about("How much longer than at rest: 0.1 allows 10 % more.")
    lower: Compression | None = about("How much shorter than at rest: 0.1 allows 10 % less.")
    rate: Positive | None = about("How fast strains may change, either way.", "1/s")

    @model_validator(mode="after")
    def _check_keys(self) -> StrainLimits:
        if not self.given("upper", "lower", "rate"):
            raise ValueError("upper, lower, rate: found none of them, expected one at least")
        return self


class Moving(Placed):
    """What cables and cloth have in common."""

    name: Word | None = about('For fixed nodes and files; "body 1" and so on by default.')
    damping: NotNegative = about("Of stretch and bending: time in which they relax.", "s", 0.0)
    velocity: Vector3 = about("At the start.", "m/s", [0.0, 0.0, 0.0])
    strain_limits: StrainLimits | None = about("What its edges may be stretched and compressed.")


class Cable(Moving):
    """A cable, at rest in length as given, and straight."""

    kind: Literal["cable"] = needed("What it is.")
    points: Points | None = about("Its nodes, in order.", "m")
    line: Line | None = about("Instead: a straight one.")
    circle: Circle | None = about("Instead: a ring.")
    helix: Helix | None = about("Instead: a winding.")
    file: str | None = about("Instead: .csv, .npy, .npz, .xyz or .ply with x, y, z; in the scene's folder.")
    closed: bool = about("Whether the last of its points is tied to the first; a circle is closed.", default=False)
    radius: Positive = needed("Half its thickness.", "m")
    stretch: Positive = needed("Young's modulus times cross section: the force that would double its length.", "N")
    bend: NotNegative = about("Young's modulus times second moment of area: resistance to bending.", "N m²", 0.0)
    mass_per_length: Positive = needed("Mass per length.", "kg/m")
    drag: NotNegative = about("Resistance of the air per length and speed.", "N s/m²", 0.0)

    @model_validator(mode="after")
    def _check_keys(self) -> Cable:
        source = self.only_one_of("points", "line", "circle", "helix", "file")
        self.only_with("closed", source in ("points", "file"), "points or file")
        return self


class Sheet(Table):
    """A rectangle around the origin, in the plane z = 0, of triangles with alternating diagonals."""

    size: Sides = needed("Along x and y.", "m")
    nodes: Grid = needed("How many along x and y; those with the same x follow each other.")


class Cloth(Moving):
    """A cloth, at rest as given, and flat."""

    kind: Literal["cloth"] = needed("What it is.")
    file: str | None = about("Mesh: .ply, .obj, .off, .stl, .glb, .gltf or .npz; in the scene's folder.")
    sheet: Sheet | None = about("Instead: a rectangle.")
    thickness: Positive = needed("Thickness.", "m")
    stretch: Positive | Sides = needed("Young's modulus times thickness, along all threads or warp and weft.", "N/m")
    shear: NotNegative = needed("Shear modulus times thickness.", "N/m")
    bend: NotNegative = about("Resistance to bending: couple per width and curvature.", "N m", 0.0)
    density: Positive = needed("Mass per area.", "kg/m²")
    drag: NotNegative = about("Resistance of the air per area and speed.", "N s/m³", 0.0)
    warp: Vector3 = about("Direction of the warp, before the cloth is turned into place.", "", [1.0, 0.0, 0.0])

    @model_validator(mode="after")
    def _check_keys(self) -> Cloth:
        self.only_one_of("file", "sheet")
        return self


class Obstacle(Shaped):
    """A body of triangles that nothing passes through."""

    thickness: NotNegative = about("How thick its surface is; half of it is kept away from.", "m", 0.0)


class Within(Table):
    """A box that holds nodes at the start."""

    lower: Vector3 = needed("Lower corner.", "m")
    upper: Vector3 = needed("Upper corner.", "m")


class Fixed(Table):
    """Nodes of a body that move as they are told: all of them, unless chosen."""

    body: str = needed("Name of a body.")
    nodes: Numbers | None = about("Numbers of nodes, from 0; from the end −1, −2 and so on.")
    within: Within | None = about("Instead: those in a box.")
    velocity: Number | Vector3 = about("How they move; with a direction, how fast along it.", "m/s", 0.0)
    direction: Vector3 | None = about("They are driven along it only; across it they are free.")
    until: Positive | None = about("When they are let go; never by default.", "s")

    @model_validator(mode="after")
    def _check_keys(self) -> Fixed:
        is_number = isinstance(self.velocity, float)
        if is_number and self.velocity and self.direction is None:
            raise ValueError(f"velocity: found {self.velocity!r}, expected 3 numbers, or one with a direction")
        if not is_number and self.direction is not None:
            raise ValueError(f"velocity: found {self.velocity!r}, expected a number with a direction")
        if len(self.given("nodes", "within")) > 1:
            raise ValueError("nodes, within: found both, expected one of them or none")
        return self


Body = Annotated[Cable | Cloth, Field(discriminator="kind")]


class Soft(Table):
    """A scene of cables and cloth."""

    kind: Literal["soft"] = about("What the scene is about; known by its bodies.", default="soft")
    world: World = Field(default_factory=World, description="Gravity and time.")
    run: Run = needed("How long.")
    output: Output = Field(default_factory=Output, description="What is written.")
    bodies: Annotated[list[Body], Field(min_length=1)] = needed("Cables and cloth.")
    obstacles: list[Obstacle] = several("What they run into.")
    fixed: list[Fixed] = several("Nodes that move as they are told.")

    @property
    def is_flat(self) -> bool:
        """As of other scenes."""
        return False

    @property
    def drawn_box(self) -> None:
        """As of other scenes: it has none."""
        return None

    @property
    def body_names(self) -> list[str]:
        """What bodies are called in the scene."""
        return [body.name or f"body {number + 1}" for number, body in enumerate(self.bodies)]
