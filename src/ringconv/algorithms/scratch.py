"""Memory that a call borrows and gives back, or uses again.

Half the time of a padded copy on a CPU goes into the operating system's handing out of fresh pages, so a thread keeps
what it used last, up to a limit. Whoever borrows takes it away, so that a call inside a call gets memory of its own.
Other devices have allocators that keep.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from ..spectral import channels_lie_last

LIMIT = 256 * 2**20
"""Bytes that a thread keeps at most."""
LARGE = 32 * 2**20
"""Bytes from which on an allocation is certain to come fresh from the operating system."""
PORTION = 4 * 2**20
"""Bytes that move at a time: twice as many are still in a cache."""


class _Kept(threading.local):
    memory: Tensor | None = None


_kept = _Kept()


@contextmanager
def borrowed(shape: Sequence[int], like: Tensor, *, last: bool = False) -> Iterator[Tensor]:
    """Images of ``shape`` with the dtype and device of ``like``, holding anything, for as long as the context lasts;
    their channels ``last`` in memory if so wished."""
    stored = (shape[0], *shape[2:], shape[1]) if last else shape
    size = math.prod(shape) * like.element_size()
    if like.device.type != "cpu" or size > LIMIT:
        images = like.new_empty(stored)
        yield images.movedim(-1, 1) if last else images
        return
    memory, _kept.memory = _kept.memory, None
    if memory is None or len(memory) < size:
        # A tensor that was made in inference mode could not be written to outside of it.
        with torch.inference_mode(False):
            memory = torch.empty(size, dtype=torch.uint8)
    try:
        images = memory[:size].view(like.dtype).view(stored)
        yield images.movedim(-1, 1) if last else images
    finally:
        _kept.memory = memory


def without_gaps(x: Tensor, wide: Tensor) -> Tensor:
    """The images ``x``, which are cut out of those of ``wide``, dense and in the layout of ``wide``, whose memory it
    may take over.

    Large ones move together where they are, a portion at a time through borrowed memory: their copy would be fresh.
    """
    size, apart = math.prod(x.shape[1:]), math.prod(wide.shape[1:])
    last = channels_lie_last(wide)
    dense = wide.is_contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)
    large = len(x) * size * x.element_size() >= LARGE
    if x.device.type != "cpu" or not dense or not large or 4 * apart > 5 * size:
        return x.clone()
    _, channels, height, width = x.shape
    strides = (size, 1, width * channels, channels) if last else (size, height * width, width, 1)
    result = x.new_empty(0).set_(wide.untyped_storage(), wide.storage_offset(), x.shape, strides)
    step = max(1, PORTION // (size * x.element_size()))
    for first in range(0, len(x), step):
        portion = x[first : first + step]
        with borrowed(portion.shape, x, last=last) as moving:
            result[first : first + step].copy_(moving.copy_(portion))
    return result
