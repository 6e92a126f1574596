"""Where work is done: in this process, in a pool of processes, or on Ray. Imports nothing: every worker passes here."""
