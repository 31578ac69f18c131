"""The command `espalier`."""

import argparse
import os
import signal
import sys
from collections.abc import Sequence
from types import FrameType
from typing import NoReturn

from espalier.commands import (
    bench,
    bench_path,
    check,
    compile,
    demo,
    judge,
    records,
    report,
    run,
    tune,
)
from espalier.errors import EspalierError, UnsupportedOperators

COMMANDS = (compile, tune, judge, records, bench_path, run, bench, check, demo, report)
EXIT_ERROR = 1
EXIT_UNSUPPORTED = 3


class Parser(argparse.ArgumentParser):
    """A parser that exits with 1, as every error but an unsupported operator."""

    def error(self, message: str) -> NoReturn:
        """Print the message in one line, and exit."""
        self.exit(EXIT_ERROR, f"{self.prog}: error: {message} (see {self.prog} --help)\n")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = Parser(
        prog="espalier",
        description="Compiler for tensor programs.",
        epilog="Exit status: 0 done, 3 an operator is not supported, 1 any other error.",
    )
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=Parser)
    for command in COMMANDS:
        name = command.__name__.rpartition(".")[2].replace("_", "-")
        summary = (command.__doc__ or "").strip().partition("\n")[0]
        subparser = subparsers.add_parser(name, help=summary, description=command.__doc__)
        command.add_arguments(subparser)
        subparser.set_defaults(run=command.run)
    return parser


def interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """Stop in good order; if that takes too long, a second time ends the process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    raise KeyboardInterrupt


def run(arguments: Sequence[str] | None) -> int:
    """Run the command line; what it prints has been written at the end."""
    try:
        args = make_parser().parse_args(arguments)
        return args.run(args)
    finally:
        if sys.stdout:
            sys.stdout.flush()


def drop_output() -> None:
    """Let nothing be written to standard output any more, also not at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    try:
        return run(arguments)
    except UnsupportedOperators as error:
        print(f"espalier: {error}", file=sys.stderr)
        return EXIT_UNSUPPORTED
    except EspalierError as error:
        print(f"espalier: error: {error}", file=sys.stderr)
        return EXIT_ERROR
    except BrokenPipeError:
        drop_output()
        return EXIT_ERROR
    except OSError as error:
        # Errors of files have become ours.
        drop_output()
        what = error.filename or "standard output"
        print(f"espalier: error: cannot use '{what}': {error.strerror}", file=sys.stderr)
        return EXIT_ERROR
    except MemoryError as error:
        print(f"espalier: error: {error or 'expects more memory'}", file=sys.stderr)
        return EXIT_ERROR
    except KeyboardInterrupt:
        print("espalier: interrupted", file=sys.stderr)
        return 128 + signal.SIGINT


if __name__ == "__main__":
    signal.signal(signal.SIGINT, interrupt)
    sys.exit(main())
