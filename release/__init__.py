"""How a release is made and tried: docs/releasing.md."""
