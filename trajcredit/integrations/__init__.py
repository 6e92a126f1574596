"""What a user's trainer loads: exported advantages, handed over where it can be extended; one trainer a module.

None of these modules imports its trainer before it is used, except to register where the trainer is installed.
"""
