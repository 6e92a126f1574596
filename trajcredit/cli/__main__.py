"""`python -m trajcredit.cli` is `trajcredit`."""

from trajcredit.cli.root import main

main()
