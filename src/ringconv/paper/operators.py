"""The two published operators that go by the name of circular-symmetric correlation layer, each exactly as published.

They are kept to load published weights and to compare; neither is the correlation with the symmetric extension that
:func:`ringconv.functional.ring_conv2d` computes. What the paper's text says and what its released code runs differ:

- the text multiplies, along the height, the DCT-II of the image with that of the kernel (``DCTProductCCL``);
- the code takes a second FFT instead: its bottom row is the neighbour of its top row (``TorusCCL``).

Around the ring both are convolutions with the kernel in the corner. They commute with every roll, and move what they
see to the right by about half a kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import _checks
from ..spectral import dct2, dct3, fft_rows, ifft_rows, irfft, rfft, widen

Size = int | tuple[int, int]


def dct_product_correlation(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1) -> Tensor:
    r"""The layer of the paper's text: FFT around the ring, DCT-II along the height, multiplied, and back.

    .. math::
        y_o = \mathrm{bias}_o + \mathrm{IDCT}\,\mathrm{IFFT} \sum_c
        \mathrm{DCT}\,\mathrm{FFT}(x_c) \cdot \mathrm{DCT}\,\mathrm{FFT}(w_{o,c}\ \text{zero-padded})

    The cosine transforms are SciPy's type II without normalisation. Around the ring this is a convolution with the
    kernel's first column at its place. Along the height a product of DCT-II's is no correlation: with the cosine
    interpolant :math:`\tilde x(t) = \sum_n c_n X_n \cos(\pi n (t + ½) / H)` of the image's rows (:math:`c_0 = 1/2H`,
    else :math:`1/H`),

    .. math:: y[i] = \sum_m w[m] \left( \tilde x(i + m + ½) + \tilde x(i - m - ½) \right),

    a kernel mirrored about its own upper edge, half a sample from every row. It therefore reads between the rows
    (each output row depends on all input rows), gives a constant twice the kernel's sum, and cannot tell up from down.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``. Half types are computed in float32.
        weight: kernels ``(C_out, C, K_h, K_w)``, no larger than the image: the definition pads the kernel with zeros.
        bias: ``(C_out,)`` or ``None``.
        stride: ``s`` or ``(s_h, s_w)``, by slicing: any stride is taken, as published, but only one that divides W
            leaves an even ring.

    Returns:
        ``(B, C_out, ⌈H / s_h⌉, ⌈W / s_w⌉)``, or without B where the input had none.

    >>> dct_product_correlation(torch.ones(1, 4, 6), torch.ones(1, 1, 1, 1))[0, 0].round(decimals=4)
    tensor([2., 2., 2., 2., 2., 2.])
    """
    return _published("dct_product_correlation", _dct_product, input, weight, bias, stride)


def torus_convolution(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Size = 1) -> Tensor:
    r"""The layer of the paper's released code: a convolution on the torus, its kernel in the corner.

    .. math::
        y_{b,o,i,j} = \mathrm{bias}_o + \sum_{c,u,v} w_{o,c,u,v}\, x_{b,\,c,\;(i - u) \bmod H,\;(j - v) \bmod W}

    computed as the product of two-dimensional FFTs without a conjugate. The height wraps too: the bottom row is the
    neighbour of the top row. It is :func:`ringconv.functional.ring_conv2d` with ``height="circular"``, the kernel
    flipped in both directions, ``padding=(K_h - 1, 0)``, and the result rolled by ``K_w // 2`` columns.

    Args:
        input: images ``(B, C, H, W)``, or one ``(C, H, W)``. Half types are computed in float32.
        weight: kernels ``(C_out, C, K_h, K_w)``, no larger than the image. (The released code crops a larger kernel
            without a word; here it is an error.)
        bias: ``(C_out,)`` or ``None``.
        stride: ``s`` or ``(s_h, s_w)``, by slicing: any stride is taken, as published, but only one that divides W
            leaves an even ring.

    Returns:
        ``(B, C_out, ⌈H / s_h⌉, ⌈W / s_w⌉)``, or without B where the input had none.

    >>> x = torch.tensor([[[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]])
    >>> torus_convolution(x, torch.tensor([[[[0.0, 1.0]]]])).round(decimals=4)
    tensor([[[3., 1., 2.],
             [0., 0., 0.]]])
    """
    return _published("torus_convolution", _torus, input, weight, bias, stride)


def _dct_product(x: Tensor, weight: Tensor) -> Tensor:
    height, width = x.shape[-2:]
    product = _contract(rfft(dct2(x, -2)), rfft(dct2(_padded(weight, height, width), -2)))
    return dct3(irfft(product, width), -2) / (2 * height)


def _torus(x: Tensor, weight: Tensor) -> Tensor:
    height, width = x.shape[-2:]
    product = _contract(fft_rows(rfft(x)), fft_rows(rfft(_padded(weight, height, width))))
    return irfft(ifft_rows(product), width)


def _padded(weight: Tensor, height: int, width: int) -> Tensor:
    return F.pad(weight, (0, width - weight.shape[-1], 0, height - weight.shape[-2]))


def _contract(x: Tensor, weight: Tensor) -> Tensor:
    """Sum over input channels at each frequency: ``(B, C, n, q)`` with ``(O, C, n, q)`` to ``(B, O, n, q)``.

    One matrix product per frequency; the product over all of B, O and C is never held.
    """
    return torch.einsum("bcnq,ocnq->bonq", x, weight)


def _published(
    where: str,
    operator: Callable[[Tensor, Tensor], Tensor],
    input: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    stride: Size,
) -> Tensor:
    """What both operators share: checks, precision, bias, and the stride by slicing."""
    x, unbatched = _checks.image(where, input)
    _checks.same_dtype(where, x, weight, bias)
    _fits(where, x, weight, bias)
    s_h, s_w = _checks.pair(where, "stride", stride)
    dtype = _checks.autocast_dtype(x) or x.dtype
    with torch.autocast(x.device.type, enabled=False):
        y = operator(widen(x.to(dtype)), widen(weight.to(dtype)))[..., ::s_h, ::s_w]
        if bias is not None:
            y = y + widen(bias.to(dtype)).view(-1, 1, 1)
        y = y.to(dtype)
    return y.squeeze(0) if unbatched else y


def _fits(where: str, x: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    if weight.ndim != 4 or 0 in weight.shape:
        raise ValueError(f"{where}: weight must be 4-D and not empty, got shape {tuple(weight.shape)}")
    if x.shape[1] != weight.shape[1]:
        raise ValueError(
            f"{where}: input {tuple(x.shape)} has {x.shape[1]} channels, but weight {tuple(weight.shape)} takes "
            f"{weight.shape[1]}"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise ValueError(f"{where}: bias must be of shape ({weight.shape[0]},), got {tuple(bias.shape)}")
    if weight.shape[-2] > x.shape[-2] or weight.shape[-1] > x.shape[-1]:
        raise ValueError(
            f"{where}: a kernel of {tuple(weight.shape[-2:])} does not fit an image of {tuple(x.shape[-2:])}: the "
            "published operator pads the kernel with zeros to the image's size; ring_conv2d takes kernels of any size"
        )


class _Published(nn.Module):
    """The parameters of a Conv2d, under its names and with its initialisation (which is the released code's too)."""

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Size,
        stride: Size = 1,
        bias: bool = True,
        *,
        device: torch.device | str | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        where = type(self).__name__
        _checks.channels(where, in_channels, out_channels, 1)
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_size = _checks.pair(where, "kernel_size", kernel_size)
        self.stride = _checks.pair(where, "stride", stride)
        shape = (out_channels, in_channels, *self.kernel_size)
        self.weight = nn.Parameter(torch.empty(shape, device=device, dtype=dtype))
        self.bias = nn.Parameter(torch.empty(out_channels, device=device, dtype=dtype)) if bias else None
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the parameters as :class:`torch.nn.Conv2d` does: uniform within 1 / √(C · K_h · K_w)."""
        cast(Any, nn.Conv2d).reset_parameters(self)

    def extra_repr(self) -> str:
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        return text if self.bias is not None else f"{text}, bias=False"


class DCTProductCCL(_Published):
    """The layer of the paper's text, :func:`dct_product_correlation`, with the parameters of a Conv2d.

    Args:
        in_channels, out_channels: C and C_out.
        kernel_size: ``k`` or ``(k_h, k_w)``, no larger than the images to come.
        stride: ``s`` or ``(s_h, s_w)``, by slicing.
        bias: whether there is one.

    >>> DCTProductCCL(3, 8, 5, stride=2)(torch.randn(2, 3, 12, 16)).shape
    torch.Size([2, 8, 6, 8])
    """

    def forward(self, input: Tensor) -> Tensor:
        return dct_product_correlation(input, self.weight, self.bias, self.stride)


class TorusCCL(_Published):
    """The layer of the paper's released code, :func:`torus_convolution`, with the parameters of a Conv2d.

    Args:
        in_channels, out_channels: C and C_out.
        kernel_size: ``k`` or ``(k_h, k_w)``, no larger than the images to come.
        stride: ``s`` or ``(s_h, s_w)``, by slicing.
        bias: whether there is one.

    >>> TorusCCL(3, 8, 5, stride=2)(torch.randn(2, 3, 12, 16)).shape
    torch.Size([2, 8, 6, 8])
    """

    def forward(self, input: Tensor) -> Tensor:
        return torus_convolution(input, self.weight, self.bias, self.stride)
