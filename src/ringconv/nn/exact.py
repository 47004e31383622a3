"""What a network needs to be exact at every shift by one argument."""

from __future__ import annotations

from torch import Tensor, nn

from .. import _checks
from ..functional import ring_phase, ring_roll
from ..functional._winner import heaviest, row_sums, steepest

EXACT = (None, "canonical", "polyphase")


class ExactNetwork(nn.Module):
    """A network whose rolled input gives the rolled output, to the last bit, in either of two ways.

    ``"canonical"`` turns every image to its own origin and runs the plain network. ``"polyphase"`` also lets every
    stride keep the phase that its features point at; then the network is equivariant in itself, and turning the image
    first settles rounding alone. ``None`` is the plain network.

    The parameters are the same in all three.
    """

    def __init__(self, exact: str | None) -> None:
        super().__init__()
        if exact not in EXACT:
            raise ValueError(f"{type(self).__name__}: exact={exact!r} is not one of {', '.join(map(repr, EXACT))}")
        self.exact = exact

    def align(self, input: Tensor, stride: int, first: int = 1) -> tuple[Tensor, Tensor | None]:
        """``input`` turned to its origin, and by how much.

        Args:
            input: images ``(B, C, H, W)``.
            stride: the network's total one, which must divide W.
            first: the stride whose phase the image itself points at, in a polyphase network. It takes no second roll.
        """
        if self.exact is None:
            return input, None
        _checks.image(type(self).__name__, input)
        _checks.ring_stride(type(self).__name__, input.shape[-1], stride)
        sums = row_sums(input)
        shift = heaviest(sums)
        if self.exact == "polyphase" and first > 1:
            shift = shift + (steepest(sums, first) - shift) % first
        return ring_roll(input, -shift), shift

    def settle(self, x: Tensor, stride: int) -> tuple[Tensor, Tensor | None]:
        """Features turned so that a plain stride keeps the phase that they point at, and that phase."""
        if self.exact != "polyphase":
            return x, None
        phase = ring_phase(x, stride)
        return ring_roll(x, -phase), phase


def turn_back(x: Tensor, shift: Tensor | None) -> Tensor:
    """``x`` rolled by what ``align`` or ``settle`` turned away."""
    return x if shift is None else ring_roll(x, shift)
