"""``python -m impinge``, the same as ``impinge``"""

from impinge.cli import main

main()
