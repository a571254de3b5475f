"""A sixth labelled set, of the sorts of the fifth in other words."""
