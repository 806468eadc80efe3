# Every target sets up what it needs: make and Python 3.11 (or newer) with venv and pip are enough.
# Another Python: make demo PYTHON=/path/to/python3.12

PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11 python; do \
    $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo demo-inside demo-ccd demo-soft gallery test test-package test-browser lint docs bench verify clean

help:
	@echo "make demo         beads and stones flow out of a hopper into a shell of cloth: out/demo/report.html"
	@echo "make demo-inside  a foam, a million points, and a picture: out/inside.png"
	@echo "make demo-ccd     a cloth falls through a ball and itself in one step; when what touches: out/ccd-cloth.png"
	@echo "make demo-soft    a ribbon folds onto itself: out/cloth-fold/picture.png, frames, an animation"
	@echo "make gallery      runs and draws all examples (long), or some: make gallery ONLY='hooks rods'; docs/gallery.md"
	@echo "make test         all tests, the fast size"
	@echo "make test-package builds sdist and wheel, and tries the wheel in an empty environment (a minute or two)"
	@echo "make test-browser reports in headless Chromium"
	@echo "make lint         ruff and mypy"
	@echo "make docs         the documentation as a site: site/index.html"
	@echo "make bench        speed, next to other libraries"
	@echo "make verify       all tests at full count (long); writes docs/verification.md"
	@echo "make clean        remove .venv and all that was made"

demo: $(VENV)/dev.stamp
	@echo "A minute or two on two cores; the first time another one, as everything is compiled"
	@$(BIN)/impinge run examples/demo.toml --out out/demo --overwrite --report
	@echo "Open out/demo/report.html in a browser; out/demo/picture.png shows the end"

demo-inside: $(VENV)/dev.stamp
	@$(BIN)/python examples/inside_demo.py

demo-ccd: $(VENV)/dev.stamp
	@echo "A few seconds; the first time half a minute, as everything is compiled"
	@$(BIN)/python examples/ccd_cloth.py

demo-soft: $(VENV)/dev.stamp
	@echo "Half a minute; the first time another two, as everything is compiled"
	@$(BIN)/impinge run examples/cloth-fold.toml --out out/cloth-fold --overwrite
	@echo "Look at out/cloth-fold/picture.png, open soft.pvd there in ParaView, or animation.glb in Blender or a browser"

gallery: $(VENV)/dev.stamp
	@$(BIN)/python docs/extra/gallery.py $(ONLY)

# Containers often set PYTHONDONTWRITEBYTECODE; then every Python that a test starts would compile all sources again.
test: $(VENV)/dev.stamp
	@PYTHONDONTWRITEBYTECODE= $(BIN)/impinge warmup
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

test-package: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.package

test-browser: $(VENV)/dev.stamp
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || { \
	    echo "There is no Chromium; on Debian or Ubuntu: apt-get install chromium"; exit 1; }
	@PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --browser -m browser tests/show

lint: $(VENV)/dev.stamp
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

docs: $(VENV)/docs.stamp
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "Open site/index.html in a browser; it needs no server and no network"

bench: $(VENV)/bench.stamp
	@$(BIN)/python -m benchmarks.inside
	@$(BIN)/python -m benchmarks.neighbours
	@$(BIN)/python -m benchmarks.particles
	@$(BIN)/python -m benchmarks.ccd
	@$(BIN)/python -m benchmarks.qp
	@$(BIN)/python -m benchmarks.soft
	@$(BIN)/python -m benchmarks.polyhedra

verify: $(VENV)/dev.stamp
	@$(BIN)/python -m tests.package
	@$(BIN)/python -m tests.verify

clean:
	rm -rf $(VENV) out build site src/*.egg-info .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find src tests benchmarks examples -name __pycache__ -prune -exec rm -rf {} +

$(VENV)/%.stamp: pyproject.toml
	@test -n "$(PYTHON)" && "$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "impinge needs Python 3.11 or newer, and found none; say: make PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || { echo "Creating $(VENV)"; "$(PYTHON)" -m venv $(VENV); }
	@echo "Installing impinge[$*] into $(VENV); the first time this takes a minute or two"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	@touch $@
