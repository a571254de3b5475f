"""Language models that write a text for us: an endpoint's, or the connected client's own."""
