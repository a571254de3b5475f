"""Long runs of kills and damage, each with a short form in the normal run."""
