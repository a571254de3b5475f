"""Models that turn text into vectors, behind one interface; each is imported only when chosen."""
