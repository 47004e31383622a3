"""Learned correlation on the cylinder, and its adjoint, with the parameters of torch's own convolutions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from .. import _checks
from ..algorithms import ALGORITHMS, Spectra
from ..functional import ring_conv_transpose2d
from ..functional._geometry import Padding, Size, check_height
from ..functional.conv import correlation
from .polyphase import PHASES, settle

if TYPE_CHECKING:
    from typing_extensions import Self


class _RingConv(nn.Module):
    """What the two layers share: options checked at construction, the parameters, and how they print."""

    weight: nn.Parameter
    bias: nn.Parameter | None

    def __init__(
        self,
        channels: tuple[int, int],
        weight_channels: tuple[int, int],
        kernel_size: Size,
        stride: Size,
        padding: Padding,
        dilation: Size,
        groups: int,
        bias: bool,
        height: str,
        device: torch.device | str | None,
        dtype: torch.dtype | None,
    ) -> None:
        super().__init__()
        where = type(self).__name__
        self.in_channels, self.out_channels = channels
        self.kernel_size = _checks.pair(where, "kernel_size", kernel_size)
        self.stride = _checks.pair(where, "stride", stride)
        self.dilation = _checks.pair(where, "dilation", dilation)
        self.groups = groups
        self.padding = check_height(where, padding, height)
        self.height = height
        shape = (*weight_channels, *self.kernel_size)
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = nn.Parameter(torch.empty(self.out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw weight and bias as torch's own convolutions do: alike under the same seed."""
        nn.init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in = self.weight[0].numel()
            bound = 1 / math.sqrt(fan_in)
            nn.init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """The arguments, those at their defaults left out."""
        words = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        unusual = {"stride": (1, 1), "padding": "same", "dilation": (1, 1), "groups": 1, **self._extra_defaults()}
        words += [f"{name}={getattr(self, name)!r}" for name, usual in unusual.items() if getattr(self, name) != usual]
        return ", ".join(words + ["bias=False"] * (self.bias is None))

    def _extra_defaults(self) -> dict[str, object]:
        return {"height": "symmetric"}


class RingConv2d(_RingConv):
    """Correlation with a learned kernel on the cylinder: the circular-symmetric correlation layer (CCL).

    A :class:`torch.nn.Conv2d` whose width is a ring: rolling the input around by a multiple of the stride rolls the
    output, exactly. Parameters, their names and their initialisation are Conv2d's, and so a ``state_dict`` goes
    either way. The operator is :func:`ringconv.functional.ring_conv2d`.

    Args:
        in_channels: C, channels of the input.
        out_channels: channels of the output.
        kernel_size: ``k`` or ``(k_h, k_w)``; any size, longer than the ring or the height included.
        stride: ``s`` or ``(s_h, s_w)``; s_w must divide the width.
        padding: rows added above and below, for the height alone: ``"same"``, a number, or ``(top, bottom)``.
        dilation: ``d`` or ``(d_h, d_w)``.
        groups: blocks of channels that do not see each other.
        bias: whether to learn a bias.
        height: what the added rows hold: ``"symmetric"``, ``"zeros"``, ``"replicate"``, ``"reflect"``,
            ``"circular"``, or ``"valid"``, which adds none.
        algorithm: ``"auto"`` (the fastest), ``"direct"``, ``"spectral"`` or ``"native"``. The same function to
            rounding; ``"direct"`` alone is also equivariant to the last bit.
        phase: ``"fixed"`` keeps columns 0, s_w, 2s_w, …, which commutes with rolls by multiples of s_w.
            ``"adaptive"`` turns each image by :func:`ringconv.functional.ring_phase` first, and so keeps the columns
            that it kept before a roll, at every shift.

    In ``eval()`` the spectral and native algorithms keep the transformed kernel, several times the size of the weight,
    and make it anew whenever the weight has changed; ``train()`` frees it.

    Shape:
        ``(B, C, H, W)`` to ``(B, out_channels, H_out, W / s_w)``, or both without B. With ``padding="same"``, H_out
        is ⌈H / s_h⌉.

    >>> layer = RingConv2d(3, 8, 5)
    >>> x = torch.randn(2, 3, 32, 64)
    >>> torch.allclose(layer(x.roll(17, -1)), layer(x).roll(17, -1), atol=1e-6)
    True
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = "same",
        dilation: Size = 1,
        groups: int = 1,
        bias: bool = True,
        *,
        height: str = "symmetric",
        algorithm: str = "auto",
        phase: str = "fixed",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        where = type(self).__name__
        _checks.channels(where, in_channels, out_channels, groups)
        self.algorithm = _checks.one_of(where, "algorithm", algorithm, ALGORITHMS)
        self.phase = _checks.one_of(where, "phase", phase, PHASES)
        channels, weights = (in_channels, out_channels), (out_channels, in_channels // groups)
        super().__init__(channels, weights, kernel_size, stride, padding, dilation, groups, bias, height, device, dtype)
        self._spectra = Spectra()

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, out_channels, H_out, W / s_w)``."""
        return correlation(
            settle(input, self.stride[1], self.phase),
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.dilation,
            self.groups,
            self.height,
            self.algorithm,
            None if self.training else self._spectra,
        )

    def train(self, mode: bool = True) -> Self:
        """As for any module; training mode frees the transformed kernel."""
        if mode:
            self._spectra.clear()
        return super().train(mode)

    def _extra_defaults(self) -> dict[str, object]:
        return {"height": "symmetric", "algorithm": "auto", "phase": "fixed"}


class RingConvTranspose2d(_RingConv):
    """The exact adjoint of :class:`RingConv2d`, with the parameters of :class:`torch.nn.ConvTranspose2d`.

    ``RingConvTranspose2d(b, a, k, s)`` maps back the shape that ``RingConv2d(a, b, k, s)`` made, where the stride
    divides the height. The operator is :func:`ringconv.functional.ring_conv_transpose2d`.

    Args:
        in_channels: C, channels of the input.
        out_channels: channels of the output.
        kernel_size: ``k`` or ``(k_h, k_w)``.
        stride: ``s`` or ``(s_h, s_w)``: the ring becomes s_w times as fine.
        padding: as for :class:`RingConv2d`, whose adjoint this is: rows that the result leaves out.
        output_padding: which of the ``s_h`` possible heights is meant, counted from the smallest; ``None`` gives
            ``s_h · H`` rows with ``padding="same"``, and 0 otherwise.
        groups: blocks of channels that do not see each other.
        bias: whether to learn a bias.
        dilation: ``d`` or ``(d_h, d_w)``.
        height: as for :class:`RingConv2d`.

    Shape:
        ``(B, C, H, W)`` to ``(B, out_channels, H_out, s_w · W)``, or both without B.

    >>> RingConvTranspose2d(8, 3, 4, stride=2)(torch.randn(2, 8, 16, 32)).shape
    torch.Size([2, 3, 32, 64])
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        padding: Padding = "same",
        output_padding: int | None = None,
        groups: int = 1,
        bias: bool = True,
        dilation: Size = 1,
        *,
        height: str = "symmetric",
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        where = type(self).__name__
        _checks.channels(where, in_channels, out_channels, groups)
        if output_padding is not None:
            _checks.integer(where, "output_padding", output_padding, 0)
        self.output_padding = output_padding
        channels, weights = (in_channels, out_channels), (in_channels, out_channels // groups)
        super().__init__(channels, weights, kernel_size, stride, padding, dilation, groups, bias, height, device, dtype)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, out_channels, H_out, s_w · W)``."""
        return ring_conv_transpose2d(
            input,
            self.weight,
            self.bias,
            self.stride,
            self.padding,
            self.output_padding,
            self.groups,
            self.dilation,
            height=self.height,
        )

    def _extra_defaults(self) -> dict[str, object]:
        return {"output_padding": None, "height": "symmetric"}


CCL = RingConv2d
"""The paper's name for :class:`RingConv2d`."""
