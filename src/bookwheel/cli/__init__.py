"""The command line: one file per command, imported when it is called."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from io import TextIOWrapper
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from bookwheel import __version__
from bookwheel.errors import BadRequest, BookwheelError

INTERRUPTED = 130
"""The exit code after Ctrl-C, as shells have it."""
TERMINATED = 143
"""The exit code after SIGTERM, as shells have it."""

COMMANDS = {
    "index": "Index folders, or bring their index up to date.",
    "search": "Search folders by words and by meaning.",
    "show": "Show a document, or a section, page, sheet or lines of it.",
    "outline": "Show the headings of a document.",
    "related": "Find documents that are like another one.",
    "graph": "Show who cites whom: around a document, or in all folders.",
    "list": "List the documents of a collection or folder.",
    "serve": "Serve folders to assistants over MCP.",
    "install": "Add this server to an assistant's settings.",
    "status": "Show what is indexed, what could not be read, and why.",
    "redact": "Show what redaction would take out of files.",
    "doctor": "Show settings and check, or repair, the index.",
    "eval": "Measure how good search is, on test sets or your documents.",
}
SUBCOMMANDS = {
    "eval init": "Write a file of questions for `eval`, to fill in.",
    "token new": "Create a token for a client of `serve --http`.",
    "token list": "List the tokens of HTTP clients.",
    "token revoke": "Revoke a token.",
    "audit verify": "Check that nobody has altered an audit.",
}
"""Commands of two words; the first may be a command by itself."""


class CommandTable(TyperGroup):
    """Loads a command when it is called, so that one command does not pay for the others."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands in the order of the help page."""
        return [*COMMANDS, *SUBCOMMANDS]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by name, or None."""
        if cmd_name not in COMMANDS and cmd_name not in SUBCOMMANDS:
            return None
        module = import_module(f"bookwheel.cli.{cmd_name.replace(' ', '_')}_command")
        single = typer.Typer(
            pretty_exceptions_enable=False, rich_markup_mode=None, add_completion=False
        )
        single.command(name=cmd_name, help=_keep_examples(module.__doc__ or ""))(module.run)
        return typer.main.get_command(single)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command called, and name the nearest one when there is none of that name."""
        if " ".join(args[:2]) in SUBCOMMANDS:
            args = [" ".join(args[:2]), *args[2:]]
        elif args and args[0] not in COMMANDS and not ctx.resilient_parsing:
            _refuse_unknown(args)
        name, command, rest = super().resolve_command(ctx, args)
        if name == "serve":  # an option whose value may be left out is more than typer knows
            rest = [part for each in rest for part in _split_http(each)]
        return name, command, rest


def _refuse_unknown(args: list[str]) -> None:
    """Say that there is no such command, and which is near."""
    from difflib import get_close_matches

    of_two = [name for name in SUBCOMMANDS if name.split()[0] == args[0]]
    if of_two and args[1:2] in (["-h"], ["--help"]):
        _show_group(args[0], of_two)
        raise typer.Exit
    wanted, known = (" ".join(args[:2]), of_two) if of_two else (args[0], [*COMMANDS])
    near = get_close_matches(wanted, [*known, *SUBCOMMANDS], n=1, cutoff=0.5)
    hint = f"There are {', '.join(known)}." if of_two or not near else f"Did you mean {near[0]!r}?"
    raise BadRequest(f"There is no command {wanted!r}.", hint=hint)


def _show_group(first: str, commands: list[str]) -> None:
    """Show the help page of commands that begin with the same word."""
    print(f"Usage: bookwheel {first} COMMAND [ARGS]...\n\nCommands:")
    for name in commands:
        print(f"  {name.split()[1]:<8}{SUBCOMMANDS[name]}")


def _split_http(argument: str) -> list[str]:
    """Return `--http=HOST:PORT` as the two words that the command takes."""
    return argument.split("=", 1) if argument.startswith("--http=") else [argument]


def _keep_examples(text: str) -> str:
    """Mark indented paragraphs so that the help page does not flow them together."""
    return text.replace("\n\n    ", "\n\n\b\n    ")


app = typer.Typer(
    cls=CommandTable,
    name="bookwheel",
    help=(
        "Search folders of documents, from the command line or by an assistant.\n\n\b\n"
        "  bookwheel search 'how to deploy' ~/notes    index the folder if need be, then search\n"
        "  bookwheel show guides/setup.md ~/notes      read what was found\n"
        "  bookwheel serve ~/notes                     let an assistant do both"
    ),
    rich_markup_mode=None,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"bookwheel {__version__}")
        raise typer.Exit


@app.callback()
def about(
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=_print_version, is_eager=True),
    ] = False,
) -> None:
    """Hold the options of the whole program."""


def main() -> None:
    """Run the command line; errors are one line on standard error and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # a letter the terminal lacks must not end the answer
            stream.reconfigure(errors="backslashreplace")
    try:
        _run()
    except BrokenPipeError:
        # Whoever read our output has seen enough; the flush at exit must not complain again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except BookwheelError as error:
        print(f"bookwheel: {error.message}", file=sys.stderr)
        if error.hint:
            print(f"  {error.hint}", file=sys.stderr)
        sys.exit(error.exit_code)


def _run() -> None:
    """Run the command and write out its answer; whichever way it ends, it raises or returns."""
    try:
        app(prog_name="bookwheel")
    except SystemExit as end:  # typer's own end of everything but our errors
        if isinstance(end.__context__, BrokenPipeError):
            raise end.__context__ from None
        if end.code in (INTERRUPTED, TERMINATED):
            # A command may have said what became of its work when it passed the interrupt on.
            interrupt = getattr(end.__context__, "__cause__", None)
            said = str(interrupt or "") if end.code == INTERRUPTED else ""
            fate = said or "what was indexed so far is kept"
            print(f"bookwheel: stopped; {fate}.", file=sys.stderr)
        sys.stdout.flush()
        raise
