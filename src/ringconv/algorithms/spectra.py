"""A layer's transformed kernel, kept while its weight stays what it was."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import NamedTuple

import torch
from torch import Tensor


class _Kept(NamedTuple):
    key: Hashable
    mark: Tensor | tuple[int, int]
    spectrum: Tensor


class Spectra:
    """The last spectrum made of one weight. Never copied or pickled: a copy starts empty.

    On a CPU the weight itself is remembered and compared, which sees every change, also one made through ``.data``.
    Elsewhere a comparison would wait for the device, and the weight's address and version counter stand for it: they
    see every change but one through ``.data``.
    """

    def __init__(self) -> None:
        self._kept: _Kept | None = None

    def of(self, weight: Tensor, key: Hashable, make: Callable[[], Tensor]) -> Tensor:
        """``make()``, or what it gave last time if neither the weight nor ``key`` (the way of making it) changed."""
        kept = self._kept
        if kept is not None and kept.key == key and _unchanged(weight, kept.mark):
            return kept.spectrum
        with torch.no_grad():
            # The mark comes first: a change made meanwhile leaves a spectrum that will not be taken again.
            mark = weight.detach().clone() if weight.device.type == "cpu" else (weight.data_ptr(), weight._version)
            self._kept = kept = _Kept(key, mark, make())
        return kept.spectrum

    def clear(self) -> None:
        """Free the memory."""
        self._kept = None

    def __len__(self) -> int:
        return self._kept is not None

    def __reduce__(self) -> tuple[type[Spectra], tuple[()]]:
        return Spectra, ()


def _unchanged(weight: Tensor, mark: Tensor | tuple[int, int]) -> bool:
    if isinstance(mark, tuple):
        return weight.device.type != "cpu" and (weight.data_ptr(), weight._version) == mark
    same = weight.device == mark.device and weight.dtype == mark.dtype and weight.shape == mark.shape
    return same and torch.equal(weight, mark)
