"""What must be installed: ./run does it beside LibTorch."""

import os
import sys
import sysconfig
from importlib import metadata, util

from .refusal import NoPackage

PACKAGES = "tokenizers==0.23.3 jinja2==3.1.6"


def need(package):
    """Other versions may give other tokens, and older ones of jinja2 let templates out of their sandbox."""
    wanted = dict(each.split("==") for each in PACKAGES.split())[package]
    try:
        found = metadata.version(package)
    except metadata.PackageNotFoundError:
        found = None
    if found != wanted:
        raise lacking(f"has {package} {found}" if found else f'has no package "{package}"')


def need_all():
    for package in PACKAGES.split():
        need(package.split("==")[0])
    import jinja2  # noqa: F401
    import tokenizers  # noqa: F401


def lacking(what):
    return NoPackage("missing", f"Texts are prepared by Hugging Face's own code, {' and '.join(PACKAGES.split())}, but "
                                f"Python {what}. Install it with this command, then start again: {install_command()}")


def install_command():
    """For the Python that we are: Debian's own comes without pip, and has it refuse to install without being told."""
    marker = os.path.join(sysconfig.get_path("stdlib"), "EXTERNALLY-MANAGED")
    is_managed = sys.prefix == sys.base_prefix and os.path.exists(marker)
    pip = "" if util.find_spec("pip") else "sudo apt-get install -y python3-pip && "
    return f"{pip}{sys.executable} -m pip install {'--break-system-packages ' if is_managed else ''}{PACKAGES}"
