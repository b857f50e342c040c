"""How a request ends in words, and how a line is left out."""

import os


class Refused(Exception):
    """Ends the request. Kinds: usage, missing, damaged, failed, disk, io."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind, self.message = kind, message


class NotEncoded(Refused):
    """A text has no tokens; its place is not known yet."""


class NoPackage(Refused):
    """What would prepare the text is not installed."""


class BadExample(Exception):
    """What is wrong with a line, without its place."""


def quoted(path):
    return '"' + os.fspath(path) + '"'


def place(path, line):
    return f"{path}:{line}" if line else path


def reason_of(error):
    """One line of an exception's text."""
    text = " ".join(str(error).split())[:500].rstrip(".")
    return text or type(error).__name__
