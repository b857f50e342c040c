"""What `python3 ARCHIVE` starts, where the archive is this file and the folder prepare."""

from prepare.main import main

main()
