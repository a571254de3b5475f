"""The pages for people and the JSON API, over a real server."""
