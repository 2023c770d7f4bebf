"""The entry: global options, sub-commands loaded when chosen, and the one boundary that maps errors to exit codes."""

import difflib
import importlib
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from keyword import iskeyword
from pathlib import Path
from typing import Any, Final

import click

from invincat import __version__
from invincat.errors import InvincatError

# The name a person types -> the one line that help shows. Its module has the same name.
COMMANDS: Final[Mapping[str, str]] = {
    "init": "Make the memory store of this repository; --import takes over its conventions.",
    "import": "Take over the rules that AGENTS.md, CONTRIBUTING and the like write down.",
    "remember": "Write down one memory.",
    "recall": "Search the memories.",
    "index": "Bring the search index up to date now; --embed makes what searching by meaning needs.",
    "list": "List memories.",
    "show": "Show one memory.",
    "log": "The history of what is believed.",
    "diff": "What is believed otherwise at one commit than at another, and why.",
    "update": "Reword or rate a memory; what it claims stays.",
    "edit": "Change a memory in your editor.",
    "move": "Give a memory another name or section.",
    "supersede": "Put one memory in the place of another.",
    "archive": "Retire memories; nothing takes their place.",
    "restore": "Undo a supersession, an archiving or a deletion.",
    "delete": "Delete memories that were wrong; the history stays.",
    "purge": "Take a memory, or a text, out of the whole history, and prove it.",
    "retier": "Set the tier of memories.",
    "rescore": "Set the score of memories.",
    "apply": "Apply a batch of operations (JSON) through the gate.",
    "extract": "Learn from a transcript or a commit.",
    "brief": "Show what a model would be told.",
    "review": "Proposals that wait for a decision.",
    "config": "Settings, with where each value comes from.",
    "check": "Tell whether the store is sound.",
    "doctor": "Examine everything here; --repair sets right what is broken.",
    "demo": "The whole flow on a scratch clone, offline.",
}


class LazyGroup(click.Group):
    """A group that imports the module of a sub-command only when it is run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order in which one meets them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command, its module imported now."""
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"invincat.cli.{cmd_name}{'_' if iskeyword(cmd_name) else ''}")
        command: click.Command = module.command
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command; a name that nearly is one is told."""
        near = difflib.get_close_matches(args[0], COMMANDS, n=1) if args[0] not in COMMANDS else []
        if near:
            ctx.fail(f"there is no command {args[0]!r}; did you mean {near[0]!r}?")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))


@click.group(
    cls=LazyGroup,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option("-C", "directory", metavar="DIR", type=click.Path(path_type=Path), help="Run as if started in DIR.")
@click.option("--project", metavar="SLUG", help="The memory of a project by its name, in place of this directory's.")
@click.option("--debug", is_flag=True, help="Show tracebacks.")
@click.option("-p", "--print", "prompt", metavar="TEXT", help="Answer one prompt and exit; piped stdin is appended.")
@click.option("--output-format", "form", type=click.Choice(["text", "json", "stream-json"]), default="text")
@click.option("--model", metavar="NAME", help="The model; by default $OPENAI_MODEL.")
@click.option("--max-turns", type=click.IntRange(1), default=50, help="At most so many requests to the model a turn.")
@click.option("--max-tokens", type=click.IntRange(1), help="At most so many tokens a turn.")
@click.option("-c", "--continue", "go_on", is_flag=True, help="Go on with the last conversation here.")
@click.option("-r", "--resume", metavar="ID", help="Go on with a conversation.")
@click.version_option(__version__, prog_name="invincat")
@click.pass_context
def program(context: click.Context, /, directory: Path | None, project: str | None, debug: bool, **talk: Any) -> None:
    """Governed, versioned memory for AI coding assistants, kept in your repository's own git.

    Without a command: talk. Memory works without a model, too.
    """
    context.obj = directory
    context.meta["project"] = project
    if context.invoked_subcommand is None:
        from invincat.cli.talk import converse  # noqa: PLC0415 - a sub-command's start must not pay for the assistant

        raise click.exceptions.Exit(converse(context, **talk))


def run(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit with its code (CLI "Exit codes")."""
    _open_streams()
    words = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in words
    try:
        code = program.main(words, prog_name="invincat", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as asked:
        code = asked.exit_code
    except click.UsageError as fault:
        _complain(_usage(fault))
        code = 2
    except click.Abort:
        code = 130
    except BrokenPipeError:
        # Whoever read us has gone; that is no fault (CLI). Python must not complain at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except InvincatError as fault:
        code = _report(fault, fault.exit_code, debug=debug)
    except KeyboardInterrupt:
        code = 130
    except OSError as fault:
        why = fault.strerror or str(fault)
        told = (
            InvincatError(why, where=fault.filename)
            if fault.filename
            else InvincatError(f"cannot write the output: {why}")
        )
        code = _report(told, 1, debug=debug)
    except Exception as fault:  # the boundary: no traceback reaches a person unless asked for
        fault = InvincatError(f"internal error: {type(fault).__name__}: {fault}", next_step="run it with --debug")
        code = _report(fault, 1, debug=debug)
    sys.exit(code if isinstance(code, int) else 0)


def _usage(fault: click.UsageError) -> str:
    """What is wrong with the words; where words of one's own follow, also how a dash may begin them."""
    context = fault.ctx
    command = context.command_path if context else "invincat"
    step = f"see `{command} --help`"
    takes_words = context and any(isinstance(one, click.Argument) and one.nargs < 0 for one in context.command.params)
    if takes_words and isinstance(fault, click.NoSuchOption):
        step = f"if it is one of your words, `{command} -- ...`; {step}"
    return f"{fault.format_message()} ({step})"


def _open_streams() -> None:
    """Whoever started us may have closed a standard stream: a file of ours must not take its number."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_RDWR), number)
            setattr(sys, name, Path(os.devnull).open("w" if number else "r", encoding="utf-8"))  # noqa: SIM115 - for good


def _report(fault: InvincatError, code: int, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    _complain(str(fault))
    return code


def _complain(message: str) -> None:
    # Where nobody can be told, the exit code has to do.
    with suppress(OSError):
        print(f"invincat: {message}", file=sys.stderr, flush=True)
