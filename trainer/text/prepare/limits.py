"""What we may take, and for how long. A process that does not get on is ended by whoever started us; what is here
ends single templates and the processes that we start."""

import contextlib
import ctypes
import os
import re
import resource
import signal

# What the slowest models need on a slow core, ten times over.
SLOWEST_CHARACTERS_PER_SECOND = 20_000


class Overrun(BaseException):
    """Something took more of the processor than it may."""


def seconds_for(characters, patience):
    return patience + characters / SLOWEST_CHARACTERS_PER_SECOND


def die_with(parent):
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
    if os.getppid() != parent:
        os._exit(1)


def take_limits(request):
    """We do not outlive who started us, and take no more memory than we are told."""
    die_with(request["parent"])
    limit_memory(request["memory"])
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(size):
    _, hard = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (size if hard == resource.RLIM_INFINITY else min(size, hard), hard))


def lacks_memory(error):
    """Also Rust's panics are exceptions; Oniguruma says it in its own words."""
    return isinstance(error, MemoryError) or "memory allocation" in str(error)


def more_than_memory():
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    there_is = "there is" if limit == resource.RLIM_INFINITY else f"{limit >> 20} MiB, which is all that it may take"
    return f"it needs more memory than {there_is}. Split the text."


def limit_share(count):
    """Of one of `count` processes that we started: what we may still take is divided among them."""
    limit, _ = resource.getrlimit(resource.RLIMIT_DATA)
    if limit == resource.RLIM_INFINITY:
        return
    with open("/proc/self/status") as file:
        taken = 1024 * int(re.search(r"VmData:\s+(\d+)", file.read()).group(1))
    limit_memory(taken + max(0, limit - taken) // count)


def overrun(*_):
    raise Overrun


@contextlib.contextmanager
def processor_time(seconds, then=overrun):
    """What takes longer and runs in Python ends with Overrun, or the process with SIG_DFL."""
    signal.signal(signal.SIGVTALRM, then)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
