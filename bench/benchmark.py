"""How Python's benchmarks begin and end: the option that all have, and their rows as JSON on standard output."""
import argparse
import json
import pathlib
import sys


def option_parser(name, description):
    parser = argparse.ArgumentParser(prog=f"shardlens bench {name} --", description=description,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help=argparse.SUPPRESS)
    return parser


def print_rows(options, measure):
    """Those of measure(options)."""
    options.programs = options.programs.resolve()
    try:
        print(json.dumps(measure(options), indent=1))
    except (RuntimeError, OSError) as error:
        sys.exit(f"error: {error}")
