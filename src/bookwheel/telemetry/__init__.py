"""What an operator sees of the server: the log, the audit and the metrics."""
