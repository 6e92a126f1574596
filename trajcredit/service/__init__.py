"""The verbs: the only module that knows every stage. Command line and interface are doors to them."""
