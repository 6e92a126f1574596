"""The HTTP door: requests in, service verbs called, answers out."""
