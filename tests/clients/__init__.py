"""The contracts as assistants meet them: through the official client, line by line."""
