"""What keeps files and readers safe: the one opener, the one door for text."""
