"""The release: archives, and what registries are told."""
