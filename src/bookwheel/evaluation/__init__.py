"""How good is search? Test sets and judged queries, asked through the library and scored."""
