"""The commands, each from a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from .doctor import doctor

app = typer.Typer(
    name="ringconv",
    help="Neural networks on data that wraps around.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
app.command()(doctor)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"ringconv {version('ringconv')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Neural networks on data that wraps around."""
