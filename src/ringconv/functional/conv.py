"""Correlation on the cylinder and its adjoint."""

from __future__ import annotations

from torch import Tensor

from .. import _checks
from ..algorithms import Spectra, correlate, correlate_adjoint
from ._geometry import Padding, Size, geometry, height_pads


def ring_conv2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = "same",
    dilation: Size = 1,
    groups: int = 1,
    *,
    height: str = "symmetric",
    algorithm: str = "auto",
) -> Tensor:
    r"""Cross-correlation of images on a cylinder: the width wraps around, the height does not.

    .. math::
        y_{b,o,i,j} = \mathrm{bias}_o + \sum_{c,u,v} w_{o,c,u,v}\,
        \tilde x_{b,\,c,\; i s_h + u d_h - p_h,\; (j s_w + v d_w - p_w) \bmod W}

    The kernel is centred on the ring, :math:`p_w = d_w (k_w - 1) // 2`, and may be of any size, longer than W or H
    included. Rolling the input by a multiple of the stride rolls the result.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``. W is the azimuth and must be a multiple of its stride.
        weight: kernels ``(C_out, C / groups, K_h, K_w)``, as those of :func:`torch.nn.functional.conv2d`.
        bias: ``(C_out,)`` or ``None``.
        stride: ``s`` or ``(s_h, s_w)``.
        padding: rows added above and below: ``"same"`` (centred; H rows become ⌈H / s_h⌉), a number for both sides,
            or ``(top, bottom)``.
        dilation: ``d`` or ``(d_h, d_w)``.
        groups: blocks of channels that do not see each other.
        height: what the added rows hold, by NumPy's names: ``"symmetric"``, ``"zeros"``, ``"replicate"``,
            ``"reflect"``, ``"circular"`` (a torus); or ``"valid"``, which adds none.
        algorithm: ``"auto"`` (the fastest), ``"direct"``, ``"spectral"`` or ``"native"``. The same function to
            rounding; ``"direct"`` alone is also equivariant to the last bit.

    Returns:
        ``(B, C_out, H_out, W / s_w)``, or without B where the input had none.

    >>> import torch
    >>> x, w = torch.randn(2, 3, 8, 12), torch.randn(4, 3, 3, 3)
    >>> ring_conv2d(x, w).shape
    torch.Size([2, 4, 8, 12])
    """
    return correlation(input, weight, bias, stride, padding, dilation, groups, height, algorithm)


def correlation(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
    padding: Padding,
    dilation: Size,
    groups: int,
    height: str,
    algorithm: str,
    spectra: Spectra | None = None,
) -> Tensor:
    """:func:`ring_conv2d`, for a layer that keeps its kernel's spectrum from call to call."""
    where = "ring_conv2d"
    x, unbatched = _checks.image(where, input)
    _checks.same_dtype(where, x, weight, bias)
    kernel = _channels(where, x, weight, bias, groups, x_axis=1)
    at = geometry(where, (x.shape[-2], x.shape[-1]), kernel, stride, padding, dilation, height)
    y = correlate(x, weight, bias, at, groups, algorithm, spectra)
    return y.squeeze(0) if unbatched else y


def ring_conv_transpose2d(
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None = None,
    stride: Size = 1,
    padding: Padding = "same",
    output_padding: int | None = None,
    groups: int = 1,
    dilation: Size = 1,
    *,
    height: str = "symmetric",
) -> Tensor:
    r"""The exact adjoint of :func:`ring_conv2d`: ``⟨ring_conv2d(x, w), y⟩ = ⟨x, ring_conv_transpose2d(y, w)⟩``.

    Arguments stand in the order of :func:`torch.nn.functional.conv_transpose2d`; those not listed here are those of
    :func:`ring_conv2d`, which maps the result's shape back to the input's.

    Args:
        input: ``(B, C, H, W)`` or ``(C, H, W)``.
        weight: ``(C, C_out / groups, K_h, K_w)``.
        bias: ``(C_out,)`` or ``None``.
        output_padding: which of the ``s_h`` heights that :func:`ring_conv2d` maps to H is meant, counted from the
            smallest (0). ``None`` gives ``s_h · H`` rows with ``padding="same"``, and 0 otherwise.

    Returns:
        ``(B, C_out, H_out, s_w · W)``, or without B where the input had none.

    >>> import torch
    >>> y, w = torch.randn(2, 4, 8, 12), torch.randn(4, 3, 3, 3)
    >>> ring_conv_transpose2d(y, w, stride=2).shape
    torch.Size([2, 3, 16, 24])
    """
    where = "ring_conv_transpose2d"
    y, unbatched = _checks.image(where, input)
    _checks.same_dtype(where, y, weight, bias)
    kernel = _channels(where, y, weight, bias, groups, x_axis=0)
    s_h, s_w = _checks.pair(where, "stride", stride)
    reach = _checks.pair(where, "dilation", dilation)[0] * (kernel[0] - 1)
    pads = height_pads(where, padding, height, reach)
    if output_padding is None:
        output_padding = s_h - 1 if padding == "same" and height != "valid" else 0
    if _checks.integer(where, "output_padding", output_padding, 0) >= s_h:
        raise ValueError(f"{where}: output_padding={output_padding} must be less than the height's stride {s_h}")
    rows = (y.shape[-2] - 1) * s_h + 1 + output_padding + reach - sum(pads)
    if rows < 1:
        raise ValueError(f"{where}: padding={pads} leaves no rows of an input of height {y.shape[-2]}")
    at = geometry(where, (rows, y.shape[-1] * s_w), kernel, (s_h, s_w), padding, dilation, height)
    x = correlate_adjoint(y, weight, bias, at, groups)
    return x.squeeze(0) if unbatched else x


def _channels(where: str, x: Tensor, weight: Tensor, bias: Tensor | None, groups: int, x_axis: int) -> tuple[int, int]:
    """The kernel's size, once the channels fit; ``x_axis`` is the axis of ``weight`` that meets those of ``x``."""
    if weight.ndim != 4 or 0 in weight.shape:
        raise ValueError(f"{where}: weight must be 4-D and not empty, got shape {tuple(weight.shape)}")
    _checks.integer(where, "groups", groups)
    channels, wanted = x.shape[1], weight.shape[x_axis] * (groups if x_axis == 1 else 1)
    if channels != wanted or weight.shape[0] % groups:
        raise ValueError(
            f"{where}: input {tuple(x.shape)} has {channels} channels, but weight {tuple(weight.shape)} with "
            f"groups={groups} takes {wanted}, and groups must divide {weight.shape[0]}"
        )
    out = weight.shape[0] if x_axis == 1 else weight.shape[1] * groups
    if bias is not None and bias.shape != (out,):
        raise ValueError(f"{where}: bias must be of shape ({out},), got {tuple(bias.shape)}")
    return weight.shape[-2], weight.shape[-1]
