"""Reading the files of models and of texts; never one that would make us wait, as a pipe does."""

import contextlib
import json
import os
import stat

from .refusal import Refused, quoted, reason_of

READ_BYTES = 1 << 20


def open_file(path):
    """A regular file. OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(0, "it is not a regular file")
    return open(descriptor, "rb", buffering=READ_BYTES)


@contextlib.contextmanager
def open_text(path):
    """Whatever is wrong with it is told of the text."""
    try:
        with open_file(path) as file:
            yield file
    except OSError as error:
        raise Refused("failed", f"The text {quoted(path)} cannot be read: {error.strerror}. Check its permissions.") from None


def content_of(path):
    """All of a model's file; None where there is none."""
    if not os.path.exists(path):
        return None
    try:
        with open_file(path) as file:
            return file.read()
    except OSError as error:
        raise Refused("failed", f"{quoted(path)} cannot be read: {error.strerror}.") from None


def json_object(path):
    """Of a model's file; {} where there is none."""
    try:
        value = json.loads(content_of(path) or b"{}")
    except (ValueError, RecursionError) as error:
        raise Refused("damaged", f"{quoted(path)} is not JSON: {reason_of(error)}. Download it again.") from None
    if not isinstance(value, dict):
        raise Refused("damaged", f"{quoted(path)} is no JSON object. Download it again.")
    return value
