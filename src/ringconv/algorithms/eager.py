"""Whether a call computes with plain numbers in plain tensors, here and now.

A compiler, an exporter, a function transform or a mode that fakes or counts wants to see what is computed, written as
torch's own operators; memory that is used again and gradients written by hand are for when nobody is looking.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.autograd import forward_ad


def eager(*tensors: Tensor | None) -> bool:
    """Whether none of ``tensors`` is a stand-in, and nothing follows what is done to them."""
    if torch.compiler.is_compiling():
        return False
    followed = (
        torch._C._is_tracing()
        or torch._C._len_torch_dispatch_stack()
        or torch._C._functorch.peek_interpreter_stack() is not None
        or forward_ad._current_level >= 0
    )
    return not followed and all(x is None or type(x) in (Tensor, torch.nn.Parameter) for x in tensors)
