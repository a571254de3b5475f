"""Run the command line with `python -m bookwheel`."""

from bookwheel.cli import main

if __name__ == "__main__":
    main()
