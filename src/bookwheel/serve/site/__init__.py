"""The pages for people: search, reading, the state of the index, and feeds for machines."""
