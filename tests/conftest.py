"""Set-up of all tests.

Compiled kernels are cached where users have them too: in a folder named after the sources, so never stale.
"""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

# Workers share the cores among themselves; threads of NumPy's linear algebra in each would wait for each other. Read
# when NumPy is first imported, which is later.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Compiling the first example takes seconds, so there is no deadline. `make test` tries the same examples in
# every run; `make verify` tries many more, new ones each time.
_COMMON = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=20, derandomize=True, **_COMMON)
settings.register_profile("verify", max_examples=2000, print_blob=True, **_COMMON)
settings.load_profile("fast")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--verify", action="store_true", help="run the tests marked verify too, at full count")
    parser.addoption("--browser", action="store_true", help="run the tests marked browser too, in headless Chromium")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--verify"):
        settings.load_profile("verify")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for option, target in (("verify", "verify"), ("browser", "test-browser")):
        if not config.getoption(f"--{option}"):
            for item in items:
                if item.get_closest_marker(option):
                    item.add_marker(pytest.mark.skip(reason=f"runs under `make {target}`"))
