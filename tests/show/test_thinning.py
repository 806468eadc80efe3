"""What is left out of pages that would be too large."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from impinge.errors import InputError
from impinge.show.recording import Recording
from impinge.show.tables import charts_of
from impinge.show.thinning import Cost, Plan, cost_of, plan

from .runs import folder_of


def test_nothing_is_left_out_where_there_is_room():
    assert plan(100, 5000, Cost(1e4, 0, 2e4), 3.1e6) == Plan(100, 1, True)
    assert plan(1, 5, Cost(10, 0, 20), 100) == Plan(1, 1, True)


def test_what_goes_first():
    cost = Cost(1e4, 0, 2e4)
    assert plan(1000, 5000, cost, 1e9) == Plan(300, 1, True)
    assert plan(100, 5000, cost, 2e6) == Plan(100, 1, False)
    assert plan(100, 5000, cost, 0.8e6) == Plan(80, 1, False)
    assert plan(100, 5000, cost, 0.2e6) == Plan(60, 3, False)
    assert plan(100, 5000, cost, 0.45e6) == Plan(90, 2, False)
    assert plan(100, 5000, cost, 0.01e6) == Plan(5, 5, False)  # a thousand spheres are left
    assert plan(100, 500, cost, 0.1e6) == Plan(10, 1, False)
    assert plan(100, 0, Cost(0, 1e4, 1e4), 0.1e6) == Plan(10, 1, False)
    with pytest.raises(InputError, match=r"most_mb: too small for two frames, expected at least 1 MB more"):
        plan(100, 0, Cost(0, 1e6, 0), 1.5e6)


@given(
    some.integers(1, 5000), some.integers(0, 10**6), some.floats(0, 1e6), some.floats(1, 1e5), some.floats(0, 1e6),
    some.floats(1e5, 1e8),
)  # fmt: skip
def test_plans_fit(count, spheres, of_spheres, rest, others, room):
    cost = Cost(of_spheres if spheres else 0.0, rest, others)
    try:
        found = plan(count, spheres, cost, room)
    except InputError:
        return
    assert min(2, count) <= found.frames <= count
    assert found.stride >= 1
    size = found.frames * (cost.spheres / found.stride + cost.rest + others * found.others)
    assert size <= room * (1 + 1e-9)


@pytest.mark.parametrize("name", ["spheres", "discs", "bodies", "soft"])
def test_costs(name):
    cost = cost_of(Recording(folder_of(name)), "speed")
    assert (cost.spheres > 0) == (name != "soft")
    assert (cost.rest > 0) == (name != "discs")
    assert 0 < cost.others < 1e5


class Tables:
    """A recording of nothing but tables."""

    def __init__(self, series, timings):
        self.series, self.timings = series, timings


def test_charts_of_long_tables():
    time = np.linspace(0, 5, 100_001)
    series = {"time [s]": time, "kinetic [J]": time**2, "work [J]": 0 * time, "contacts": time, "force [N]": -time}
    charts, step = charts_of(Tables(series, {}))
    assert [chart["title"] for chart in charts] == ["Energy", "Contacts", "More"]
    energy = charts[0]
    assert [line["name"] for line in energy["lines"]] == ["kinetic", "work"]
    assert energy["unit"] == "J"
    assert (energy["x"][0], energy["x"][-1]) == (0, 5)
    assert len(energy["x"]) == len(energy["lines"][0]["y"]) == 2000
    assert step == 51
    assert charts[2]["choose"] is True


def test_rates():
    seconds = np.linspace(0, 100, 10_001)
    timings = {"time [s]": seconds / 50, "steps": 20 * seconds, "real time [s]": seconds, "rebuilds": seconds // 1}
    (fast, lists), step = charts_of(Tables({}, timings))
    assert step == 1
    assert fast["stairs"] is True
    np.testing.assert_allclose(fast["lines"][0]["y"], 20, rtol=1e-5)
    assert 80 < len(fast["x"]) <= 101
    assert lists["lines"][0]["y"][-1] == pytest.approx(100, abs=1)


def test_rates_of_runs_that_were_too_short():
    timings = {"time [s]": [0.0, 1.0], "steps": [0.0, 5.0], "real time [s]": [0.0, 0.001], "rebuilds": [0.0, 1.0]}
    charts, _ = charts_of(Tables({}, {name: np.array(column) for name, column in timings.items()}))
    assert charts[0]["lines"][0]["y"] == [5000, 5000]
    assert charts_of(Tables({}, {name: np.array(column[:1]) for name, column in timings.items()}))[0] == []


def test_numbers_that_are_none_are_said_to_be():
    series = {"time [s]": np.array([0.0, 1.0]), "mixing": np.array([np.nan, np.inf])}
    charts, _ = charts_of(Tables(series, {}))
    assert charts[0]["lines"][0]["y"] == [None, None]
