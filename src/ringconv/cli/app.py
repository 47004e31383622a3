"""The commands, each from a file of its own."""

from __future__ import annotations

from typing import Annotated

import typer

from .._version import __version__
from .align import align
from .change import change
from .check import check
from .convert import convert
from .doctor import doctor
from .evaluate import evaluate
from .export import export
from .info import info
from .predict import predict
from .render import render
from .show import show
from .train import train

app = typer.Typer(name="ringconv", rich_markup_mode=None, pretty_exceptions_enable=False)
app.command()(align)
app.command()(change)
app.command()(check)
app.command()(convert)
app.command()(doctor)
app.command("eval")(evaluate)
app.command()(export)
app.command()(info)
app.command()(predict)
app.command()(render)
app.command()(show)
app.command()(train)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"ringconv {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Neural networks on data that wraps around."""
    if context.invoked_subcommand is None:
        print(context.get_help())
