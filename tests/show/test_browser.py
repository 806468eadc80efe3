"""Reports in headless Chromium, with all network blocked: what a user sees and does. `make test-browser` runs them."""

from __future__ import annotations

import io
import shutil
from contextlib import contextmanager

import numpy as np
import pytest

from impinge.show.report import report

from .runs import folder_of

pytestmark = pytest.mark.browser

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_OPTIONS = [
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
]  # fmt: skip
_PATIENCE = 60_000  # ms: machines without a graphics card, and busy ones, are slow


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    pytest.importorskip("k3d")
    if _CHROMIUM is None:
        pytest.skip("there is no Chromium: apt-get install chromium")
    with sync_api.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=_CHROMIUM, args=_OPTIONS)
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """A page of a run; at the end, nothing may have been said on the console or asked of the network."""

    @contextmanager
    def open_page(name, width=1200, height=900):
        path = report(folder_of(name), tmp_path / f"{name}.html")
        page = browser.new_page(viewport={"width": width, "height": height})
        page.set_default_timeout(_PATIENCE)
        asked, said = [], []

        def answer(route):
            asked.append(route.request.url)
            route.continue_() if route.request.url == path.as_uri() else route.abort()

        page.route("**/*", answer)
        page.on("console", lambda message: message.type in ("error", "warning") and said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(path.as_uri())
        page.wait_for_selector("body[data-ready]")
        yield page
        page.close()
        assert said == []
        assert asked == [path.as_uri()]

    return open_page


def picture(page):
    """(h, w, 3): the scene, as it is shown, without what lies on it."""
    from matplotlib.image import imread

    return imread(io.BytesIO(page.locator("#canvasTarget canvas").first.screenshot()))[70:, :, :3]


def settled(page):
    """The picture, when it does not change any more."""
    before = picture(page)
    while True:
        page.wait_for_timeout(100)
        now = picture(page)
        if np.array_equal(before, now):
            return now
        before = now


def move_to(page, part):
    """Move the slider to a part of the run; the picture then."""
    page.evaluate(
        "part => { slider.value = Number(slider.min) + part * (slider.max - slider.min);"
        "          slider.dispatchEvent(new Event('input')); }",
        part,
    )
    return settled(page)


def cursors(page):
    """Where they stand in the charts."""
    return [float(line.get_attribute("x1")) for line in page.locator("svg .cursor").all()]


def differing(one, other):
    return float((np.abs(one - other).max(axis=2) > 0.05).mean())


def time_of(page):
    return float(page.evaluate("slider.value"))


def test_spheres(opened):
    with opened("spheres") as page:
        first = move_to(page, 0)
        assert differing(first, np.broadcast_to(first[-1, 0], first.shape)) > 0.01
        at_first = cursors(page)
        assert len(at_first) == 5
        middle = move_to(page, 0.5)
        last = move_to(page, 1)
        assert min(differing(first, middle), differing(middle, last), differing(first, last)) > 0.005
        assert all(now > before + 100 for before, now in zip(at_first, cursors(page), strict=True))
        assert differing(move_to(page, 0), first) < 1e-3  # and back again

        chart = page.locator("[data-chart=Energy] svg")
        chart.click(position={"x": 0.6 * chart.bounding_box()["width"], "y": 100})
        assert 0.3 < time_of(page) / float(page.evaluate("slider.max")) < 0.8
        assert differing(settled(page), first) > 0.005
        legend = page.locator("[data-chart=Energy] .key").first
        lines = page.locator("[data-chart=Energy] svg path")
        count = lines.count()
        legend.click()
        assert lines.count() == count - 1

        before = settled(page)
        page.select_option("#scalar", "radius")
        assert differing(settled(page), before) > 0.005
        assert "m" in page.locator("#high").inner_text()

        move_to(page, 0)
        page.select_option("#pace", "5")
        page.click("#play")
        page.wait_for_function("Number(slider.value) > 0.3 * slider.max")
        page.click("#play")
        stopped = time_of(page)
        page.wait_for_timeout(300)
        assert time_of(page) == stopped
        page.keyboard.press("Escape")
        page.click("#next")
        assert page.locator("#clock").inner_text().split("frame ")[1][0] in "23"


def test_rigid_bodies_and_obstacles_that_move(opened):
    with opened("bodies", 400, 800) as page:
        pictures = [move_to(page, part) for part in (0, 0.5, 1)]
        assert differing(pictures[0], pictures[1]) > 0.005
        assert differing(pictures[1], pictures[2]) > 0.005
        before = pictures[2]
        page.select_option("#scalar", "spin")
        assert differing(settled(page), before) > 0.002
        assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_cables_and_cloth(opened):
    with opened("soft") as page:
        page.emulate_media(color_scheme="dark")
        pictures = [move_to(page, part) for part in (0, 0.6, 1)]
        assert differing(pictures[0], pictures[1]) > 0.005
        assert differing(pictures[1], pictures[2]) > 0.002
        assert pictures[0][-1, 0].max() < 0.2  # the background is dark, too
        page.select_option("#scalar", "speed")
        assert differing(settled(page), pictures[2]) > 0.005
