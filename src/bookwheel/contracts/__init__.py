"""The toolsets: each translates between what its clients say and what the library does."""
