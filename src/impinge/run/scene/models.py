"""What a scene file may say: every table and key, with units; checked by pydantic, which also makes the reference.

A value is checked here by itself; whether values go together with the rest of the scene is checked where they are used.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from impinge.run.scene.shapemodels import (
    CLOSED,
    SHAPES,
    Block,
    Closed,
    Cone,
    Cylinder,
    Lathe,
    Placed,
    Plate,
    Prism,
    Rotation,
    Shaped,
    Sphere,
    Torus,
    Turn,
    Wedge,
)
from impinge.run.scene.tables import (
    Allowed,
    Auto,
    Corners,
    Count,
    Flags,
    Jitter,
    Lengths,
    NotNegative,
    Number,
    Numbers,
    Pair,
    Places,
    Poisson,
    Positive,
    Quaternions,
    Seed,
    Share,
    Table,
    Vector,
    Vector3,
    Word,
    about,
    needed,
    several,
)

__all__ = [
    "CLOSED", "SHAPES", "Allowed", "Block", "Box", "Closed", "Cone", "Contact", "Cylinder", "Distribution", "Lathe",
    "Lattice", "Material", "Measure", "NotNegative", "Number", "Obstacle", "Output", "Outputs", "Particles", "Placed",
    "Plane", "Plate", "Polyhedra", "Positive", "Prism", "Random", "RandomVelocity", "Rotation", "Run", "Shaped", "Sink",
    "Source", "Sphere", "Spheres", "Table", "Torus", "Turn", "Vector3", "Wedge", "Word", "World", "about", "needed",
    "several",
]  # fmt: skip


class World(Table):
    """Space, time and how neighbours are found."""

    dim: Literal[2, 3] = about("Discs in two dimensions, or spheres in three.", default=3)
    gravity: Vector | None = about("Gravity; 9.81 down the last axis by default.", "m/s²")
    dt: Positive | Auto = about(
        'Time step; "auto" takes a fiftieth of the shortest contact of spheres, or a twelfth of that of polyhedra.',
        "s", "auto",
    )  # fmt: skip
    integrator: Literal["velocity", "position", "position-central"] = about(
        "Velocity Verlet; position Verlet as in [Muth2007b], whose dampers lag half a step; or without the lag.",
        default="velocity",
    )
    search: Literal["auto", "brute", "verlet", "cells", "sweep", "levels"] = about(
        "How near spheres are found; results do not depend on it.", default="auto"
    )
    skin: NotNegative | Auto = about("How much farther than needed the search looks.", "m", "auto")
    box: Lengths | Corners | None = about(
        "Lengths of the box from 0, or lower and upper corner; needed for periodic sides.", "m"
    )
    periodic: bool | Flags = about("Whether the box repeats, along all axes or each.", default=False)


class Run(Table):
    """How long."""

    until: Positive = needed("Simulated time at which the run ends; a finished run can go on after it is raised.", "s")
    threads: Count | None = about("Threads; all cores by default. Results do not depend on it.")


class Outputs(Table):
    """When something is written."""

    frames: Positive | None = about("Interval of the frames.", "s")
    series: Positive | None = about("Interval of the rows of series.csv.", "s")
    checkpoint: Positive | None = about(
        "Interval of checkpoints, from which a run that was stopped goes on; a tenth of the run by default.", "s"
    )
    picture: bool = about("Whether a picture of the end is drawn (needs matplotlib).", default=False)


class Output(Outputs):
    """What is written, and when; everything is optional."""

    formats: Annotated[
        list[Literal["vtp", "xyz"]], Field(min_length=1), Allowed('a list of "vtp" (ParaView) and "xyz" (OVITO)')
    ] = about("Files of a frame.", default=["vtp"])
    chains: bool = about("Whether frames show contact forces as lines (force chains).", default=False)


class Law(Table):
    """How two bodies push each other."""

    stiffness: Positive | None = about("Linear spring.", "N/m")
    young: Positive | None = about("Young's modulus, instead of a stiffness: the law of Hertz and Mindlin.", "Pa")
    poisson: Poisson | None = about("Poisson's ratio, for Hertz; 0.3 by default.")
    damping: NotNegative | None = about("Coefficient of the dashpot.", "N s/m")
    restitution: Share | None = about("Instead of a damping: velocity after a head-on collision over that before.")
    friction: NotNegative | None = about("Coefficient of Coulomb friction; 0 by default.")
    rolling: NotNegative | None = about("Coefficient of rolling resistance; 0 by default.")
    cohesion: NotNegative | None = about("Work of adhesion; 0 by default.", "J/m²")
    unloading: Positive | None = about("Spring on the way back, for plastic contact after Luding.", "N/m")
    pull: NotNegative | None = about("Spring of the adhesion that plastic contact leaves.", "N/m")
    tangential: NotNegative | None = about("Tangential stiffness over normal; 2/7 by default.")


class Material(Law):
    """What bodies are made of; pairs of materials meet by the rule of means, unless contacts say more."""

    density: Positive = needed("Density; of discs, mass per area.", "kg/m³ (kg/m² in two dimensions)")


class Contact(Law):
    """How two materials meet, instead of by the rule of means."""

    materials: Pair = needed("Names of the two materials, which may be the same.")


class Distribution(Table):
    """Radii to draw."""

    kind: Literal["uniform", "lognormal", "power", "choice"] = needed(
        "Shape of the distribution, by number of spheres."
    )
    low: Positive | None = about("Smallest radius; not for choice.", "m")
    high: Positive | None = about("Largest radius; not for choice.", "m")
    mean: Positive | None = about("Mean of the lognormal distribution before it is cut off.", "m")
    sigma: Positive | None = about("Deviation of ln r of the lognormal distribution.")
    exponent: Number | None = about("Of the power law: the number of spheres per radius goes with r^exponent.")
    radii: Numbers | None = about("Radii of a choice.", "m")
    weights: Numbers | None = about("Their shares in the number of spheres.")

    @property
    def arguments(self) -> tuple[Any, ...]:
        """As the functions that fill take it."""
        return (self.kind, *(getattr(self, key) for key in _DISTRIBUTIONS[self.kind]))

    @model_validator(mode="after")
    def _check_keys(self) -> Distribution:
        wanted = _DISTRIBUTIONS[self.kind]
        missing = [key for key in wanted if key not in self.model_fields_set]
        if missing:
            raise ValueError(f"{missing[0]}: missing, expected {', '.join(wanted)} with kind {self.kind!r}")
        for key in self.model_fields_set - {"kind", *wanted}:
            raise ValueError(f"{key}: found it with kind {self.kind!r}, expected {', '.join(wanted)}")
        return self


_DISTRIBUTIONS = {
    "uniform": ("low", "high"),
    "lognormal": ("mean", "sigma", "low", "high"),
    "power": ("low", "high", "exponent"),
    "choice": ("radii", "weights"),
}


class Random(Table):
    """Bodies at random places that do not overlap, nor any that are there already."""

    lower: Vector = needed("Lower corner of the region.", "m")
    upper: Vector = needed("Upper corner.", "m")
    fraction: Share | None = about("Share of the region's volume that is filled.")
    count: Count | None = about("Instead: number of bodies. Neither if there is a radius for each.")
    gap: NotNegative = about("Least distance between surfaces.", "m", 0.0)
    seed: Seed = about("Another seed gives other places.", default=0)


class Lattice(Table):
    """Spheres in rows."""

    kind: Literal["cubic", "hexagonal"] = about("Cubic (square), or the densest packing (triangular).", default="cubic")
    lower: Vector = needed("Lower corner of the region.", "m")
    upper: Vector = needed("Upper corner.", "m")
    spacing: Positive | None = about("Distance of neighbours; twice the largest radius by default.", "m")
    jitter: Jitter = about("Spheres are moved at random by up to this part of what the spacing leaves.", default=0.0)
    count: Count | None = about("Take this many places only, from below.")
    seed: Seed = about("Another seed gives other moves, and other radii of a distribution.", default=0)


class RandomVelocity(Table):
    """Velocities that are uniform in a cube."""

    largest: NotNegative = needed("Every component is from −largest to +largest.", "m/s")
    seed: Seed = about("Another seed gives other velocities.", default=0)


class Spheres(Table):
    """Spheres, or discs, at the start: given one by one, from a file, at random places, or on a lattice."""

    name: Word | None = about('Of the group, for measures; "spheres 1" and so on by default.')
    material: str = needed("Name of a material.")
    centres: Places | None = about("Centres.", "m")
    file: str | None = about("Instead: .csv, .npy, .npz or .xyz with x, y, (z) and radius; in the scene's folder.")
    scale: Positive = about("Of what the file says, centres and radii; 1e-3 if that is in millimetres.", default=1.0)
    random: Random | None = about("Instead: a region to fill at random.")
    lattice: Lattice | None = about("Instead: a region to fill in rows.")
    radii: Positive | Numbers | None = about("Radius of all spheres, or of each.", "m")
    distribution: Distribution | None = about("Instead of radii, for random and lattice.")
    velocity: Vector | None = about("Velocity of all; 0 by default.", "m/s")
    random_velocity: RandomVelocity | None = about("Random velocities, added to that of all.")
    spin: Number | Vector3 | None = about("Spin of all: 3 numbers, or one in two dimensions; 0 by default.", "rad/s")

    @model_validator(mode="after")
    def _check_keys(self) -> Spheres:
        source = self.only_one_of("centres", "file", "random", "lattice")
        self.only_with("scale", source == "file", "file")
        self.only_with("distribution", source in ("random", "lattice"), "random or lattice")
        if source in ("random", "lattice"):
            self.only_one_of("radii", "distribution")
        elif source == "centres" and self.radii is None:
            raise ValueError("radii: missing, expected it with centres")
        elif source == "file" and isinstance(self.radii, list):
            raise ValueError("radii: found a list, expected one number for all spheres of the file, or none")
        return self


class Polyhedra(Closed):
    """Rigid bodies of one closed shape, convex or not, at the start; three dimensions only."""

    name: Word | None = about('Of the group; "polyhedra 1" and so on by default.')
    material: str = needed("Name of a material.")
    positions: Places | None = about("Where the origins of the shapes are.", "m")
    random: Random | None = about("Instead: a region to fill at random.")
    rotations: Quaternions | None = about(
        "Of each after that, with positions: quaternions [w, x, y, z], of any length above 0."
    )
    velocity: Vector3 | None = about("Velocity of all; 0 by default.", "m/s")
    random_velocity: RandomVelocity | None = about("Random velocities, added to that of all.")
    spin: Vector3 | None = about("Spin of all; 0 by default.", "rad/s")
    overlap: bool = about("Whether they may start deep in each other, or in a wall.", default=False)

    @model_validator(mode="after")
    def _check_keys(self) -> Polyhedra:
        self.only_one_of("file", *CLOSED)
        source = self.only_one_of("positions", "random")
        self.only_with("rotations", source == "positions", "positions")
        self.only_with("random_turns", source == "random", "random")
        if self.random is not None and self.random_turns:
            self.only_with("rotate", False, "positions, or with random_turns = false")
        return self


class Plane(Table):
    """An endless wall, felt from the side of its normal."""

    name: Word | None = about('For forces in series.csv; "wall 1" and so on by default.')
    point: Vector = needed("A point of the plane.", "m")
    normal: Vector = needed("Towards the spheres; of any length.")
    material: str | None = about("Name of a material; that of the sphere that touches by default.")
    velocity: Vector | None = about("It moves steadily.", "m/s")
    load: NotNegative | None = about("Instead: pressed along its normal with this force, it gives way.", "N")
    mass: Positive | None = about(
        "Inertia of a plane under load; that of all spheres and polyhedra at the start by default.", "kg"
    )

    def point_at(self, time: float) -> list[float] | None:
        """A point of it then; None if that is not known beforehand, as of a plane under load."""
        if self.load is not None:
            return None
        return [x + time * speed for x, speed in zip(self.point, self.velocity or [0.0] * 3, strict=False)]


class Box(Table):
    """Walls around a box, felt from inside; none along periodic axes."""

    lower: Vector = needed("Lower corner.", "m")
    upper: Vector = needed("Upper corner.", "m")
    material: str | None = about("Name of a material; that of the sphere that touches by default.")


class Obstacle(Shaped):
    """A body of triangles that spheres run into from both sides; three dimensions only."""

    name: Word | None = about('For forces in series.csv; "obstacle 1" and so on by default.')
    material: str | None = about("Name of a material; that of the sphere that touches by default.")


class Source(Closed):
    """A box in which spheres or polyhedra appear at random places, one after the other; those without room wait."""

    material: str = needed("Name of a material.")
    lower: Vector = needed("Lower corner.", "m")
    upper: Vector = needed("Upper corner.", "m")
    radii: Positive | Numbers | None = about("Radius of all spheres, or of one after the other.", "m")
    distribution: Distribution | None = about("Instead of radii.")
    rate: Positive = needed("Spheres or polyhedra per second.", "1/s")
    velocity: Vector | None = about("Of what is new; at rest by default.", "m/s")
    count: Count | None = about("Number of spheres or polyhedra after which the source is empty.")
    seed: Seed = about("Another seed gives other places.", default=0)

    @model_validator(mode="after")
    def _check_keys(self) -> Source:
        source = self.only_one_of("radii", "distribution", "file", *CLOSED)
        for key in ("scale", "resolution", "random_turns", "rotate"):
            self.only_with(key, source not in ("radii", "distribution"), "the shape of polyhedra")
        self.only_with("rotate", not self.random_turns, "random_turns = false")
        return self

    @property
    def is_of_polyhedra(self) -> bool:
        return self.radii is None and self.distribution is None


class Sink(Table):
    """A box in which spheres and polyhedra vanish, by their centres of mass; series.csv counts them."""

    name: Word | None = about('For series.csv; "sink 1" and so on by default.')
    lower: Vector = needed("Lower corner.", "m")
    upper: Vector = needed("Upper corner.", "m")


class Measure(Table):
    """Columns of series.csv."""

    name: Word = needed("Of the columns.")
    kind: Literal["mixing", "segregation", "beyond"] = needed(
        "Mixing index of two groups after Lacey, 0 (apart) to about 1 (mixed at random); 1 less this index; or number "
        "and mass of the spheres beyond a plane."
    )
    groups: Pair | None = about("Of mixing and segregation: names of two groups of spheres.")
    cell: Positive | None = about(
        "Of mixing and segregation: edge of the cells, which should hold ten spheres or more.", "m"
    )
    point: Vector | None = about("Of beyond: a point of the plane.", "m")
    normal: Vector | None = about("Of beyond: the side whose spheres are counted.")

    @model_validator(mode="after")
    def _check_keys(self) -> Measure:
        wanted = ("point", "normal") if self.kind == "beyond" else ("groups", "cell")
        for key in ("groups", "cell", "point", "normal"):
            if (key in wanted) != (key in self.model_fields_set):
                state = "missing" if key in wanted else "found it"
                raise ValueError(f"{key}: {state}, expected {' and '.join(wanted)} with kind {self.kind!r}")
        return self


class Particles(Table):
    """A scene of spheres or discs, of polyhedra, or of both."""

    kind: Literal["particles", "polyhedra"] = about(
        "What the scene is about; with either it may have spheres and polyhedra.", default="particles"
    )
    world: World = Field(default_factory=World, description="Space, time and search.")
    run: Run = needed("How long.")
    output: Output = Field(default_factory=Output, description="What is written.")
    materials: dict[str, Material] = several("Materials, by name.", dict)
    contacts: list[Contact] = several("How pairs of materials meet.")
    spheres: list[Spheres] = several("Spheres at the start.")
    polyhedra: list[Polyhedra] = several("Rigid bodies of any shape at the start.")
    planes: list[Plane] = several("Endless walls.")
    boxes: list[Box] = several("Walls around boxes.")
    obstacles: list[Obstacle] = several("Bodies of triangles.")
    sources: list[Source] = several("Where spheres or polyhedra appear.")
    sinks: list[Sink] = several("Where spheres and polyhedra vanish.")
    measures: list[Measure] = several("Columns of series.csv.")

    @property
    def is_flat(self) -> bool:
        """Whether it is about discs in a plane."""
        return self.world.dim == 2

    @property
    def has_polyhedra(self) -> bool:
        """Whether there are rigid bodies, or may be later."""
        return bool(self.polyhedra) or any(source.is_of_polyhedra for source in self.sources)

    @property
    def may_have_spheres(self) -> bool:
        """Whether there are spheres, or may be later; also where there is nothing else."""
        rains = any(not source.is_of_polyhedra for source in self.sources)
        return bool(self.spheres) or rains or not self.has_polyhedra

    @property
    def drawn_box(self) -> Any:
        """The box that pictures show: two corners, or lengths from 0; None if there is none."""
        return [self.boxes[0].lower, self.boxes[0].upper] if self.boxes else self.world.box
