"""Where the ``ringconv`` command starts, and how it ends: 0 done, 1 done in part, 2 refused, in one line."""

from __future__ import annotations

import sys
from typing import NoReturn


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit; ``arguments`` stand for those of the process."""
    try:
        import typer

        from .app import app
    except ModuleNotFoundError as missing:
        refuse(f"the command line needs {missing.name}, which is not installed: pip install 'ringconv[app]'")
    command = typer.main.get_command(app)
    try:
        status = command.main(arguments, prog_name="ringconv", standalone_mode=False)
    except typer.Abort:
        sys.exit(130)
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        message = error.format_message() if hasattr(error, "format_message") else str(error)
        refuse(f"{message} See '{context.command_path if context else 'ringconv'} --help'.")
    except (ValueError, FileNotFoundError, FloatingPointError) as error:
        refuse(str(error))
    sys.exit(status if isinstance(status, int) else 0)


def refuse(message: str) -> NoReturn:
    """End with one line and status 2."""
    print(f"ringconv: {message}", file=sys.stderr)
    sys.exit(2)
