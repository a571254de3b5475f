"""Measuring Bookwheel on real folders: `python -m bench FOLDER`; the page is docs/benchmarks.md."""
