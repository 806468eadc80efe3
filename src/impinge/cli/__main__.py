"""``python -m impinge.cli``"""

from impinge.cli import main

main()
