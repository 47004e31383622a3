"""What a person sees of a training run: how far it is, how good, how fast, and how long it will take."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType

from rich import progress
from rich.console import Console
from rich.text import Text

from .recipe import Recipe


class _Speed(progress.ProgressColumn):
    def render(self, task: progress.Task) -> Text:
        return Text(f"{task.speed:,.0f} samples/s" if task.speed else "")


class Progress:
    """A bar over the whole run and a line for each epoch, on stderr; nothing at all unless ``shown``.

    Args:
        shown: whether to write.
        recipe: of the run.
        steps: of an epoch.
        done: epochs that lie behind.
    """

    def __init__(self, shown: bool, recipe: Recipe, steps: int, done: int) -> None:
        self.recipe, self.samples = recipe, steps * recipe.batch_size
        console = Console(stderr=True, soft_wrap=True, quiet=not shown)
        self.bar = progress.Progress(
            progress.TextColumn("{task.description}"),
            progress.BarColumn(),
            _Speed(),
            progress.TimeRemainingColumn(),
            console=console,
            disable=not console.is_terminal,
            transient=True,
        )
        total = recipe.epochs * self.samples
        self.task = self.bar.add_task("", total=total, completed=done * self.samples)

    def __enter__(self) -> Progress:
        self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.bar.stop()

    def show(self, epoch: int, step: int, scores: Mapping[str, float]) -> None:
        """Move on to ``step`` of ``epoch``, with the scores so far."""
        completed = epoch * self.samples + step * self.recipe.batch_size
        self.bar.update(self.task, completed=completed, description=self._text(epoch + 1, scores))

    def line(self, row: Mapping[str, float]) -> None:
        """Leave a line for an epoch that is done."""
        scores = {name: value for name, value in row.items() if name not in ("epoch", "learning_rate")}
        self.bar.console.print(self._text(int(row["epoch"]), scores), highlight=False)

    def _text(self, epoch: int, scores: Mapping[str, float]) -> str:
        words = [f"{name} {value:.4g}" for name, value in scores.items()]
        return f"epoch {epoch}/{self.recipe.epochs}  {'  '.join(words)}"
