"""The paper's networks, each defined once for every layer that it can be built with.

``layer`` is a callable with Conv2d's first four parameters, ``layer(in_channels, out_channels, kernel_size, stride)``:
``nn.Conv2d`` gives the planar network as published, ``TorusCCL`` the ring network as released, ``DCTProductCCL`` the
one of the paper's text, and ``RingConv2d`` the one that the paper means. All have the same parameters, under the names
of the released checkpoints. Each docstring says whether the network follows the released code.

As published the networks are equivariant (or invariant) to rolls by multiples of their total stride, no more: a pool
or stride of 2 commutes with even rolls alone. Their plain pools have windows as long as their stride, and so never
cross the seam where the width divides; where it does not, the pool drops the last columns and what is left is no ring
any more.

``exact="polyphase"`` or ``"canonical"`` makes the ring networks exact at every roll, with the same parameters: each
stride keeps the phase that the image points at, or the image is turned to its own origin once
(:class:`ringconv.nn.Canonical`). The width must then be a multiple of the total stride.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from .. import _checks
from ..nn.exact import ExactNetwork, turn_back
from .operators import TorusCCL

Layer = Callable[..., nn.Module]
_CELL = (2, 4)
OPERATORS: Mapping[str, Layer] = {"ccl": TorusCCL, "cnn": nn.Conv2d}


class MNISTNet(ExactNetwork):
    """Digits: five layers of 8, 8, 8, 8 and 10 channels, two of them with stride 2, averaged; 1,922 parameters.

    By the released code. As a planar network its convolutions are unpadded: 28, 26, 12, 10, 4 rows; as a ring
    network they keep the size: 28, 28, 14, 14, 7. The total stride is 4.

    Args:
        layer: what to build with.
        in_channels: C, channels of the images.
        classes: channels of the last layer.
        exact: ``None`` as published, ``"polyphase"`` or ``"canonical"`` for exactness at every roll.

    >>> from torch.nn import Conv2d
    >>> MNISTNet(Conv2d)(torch.randn(2, 1, 28, 28)).shape, MNISTNet(TorusCCL)(torch.randn(2, 1, 28, 28)).shape
    (torch.Size([2, 10]), torch.Size([2, 10]))
    """

    def __init__(self, layer: Layer, in_channels: int = 1, classes: int = 10, *, exact: str | None = None) -> None:
        super().__init__(exact)
        self.conv1 = layer(in_channels, 8, 3, 1)
        self.conv2 = layer(8, 8, 3, 2)
        self.conv3 = layer(8, 8, 3, 1)
        self.conv4 = layer(8, 8, 3, 2)
        self.conv5 = layer(8, classes, 1, 1)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to log-probabilities ``(B, classes)``."""
        x, _ = self.align(input, 4, first=2)
        x, _ = self.settle(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = F.relu(self.conv4(F.relu(self.conv3(x))))
        return F.log_softmax(self.conv5(x).mean((-2, -1)), -1)


class _FourLayers(ExactNetwork):
    """Kernels 5, 5, 3, 3, each with a ReLU, and pools after the second and the fourth: the total stride is 4."""

    def __init__(self, layer: Layer, in_channels: int, channels: tuple[int, int, int, int], exact: str | None) -> None:
        super().__init__(exact)
        self.conv1 = layer(in_channels, channels[0], 5, 1)
        self.conv2 = layer(channels[0], channels[1], 5, 1)
        self.conv3 = layer(channels[1], channels[2], 3, 1)
        self.conv4 = layer(channels[2], channels[3], 3, 1)
        self.pool = nn.MaxPool2d(2)

    def features(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to ``(B, channels[-1], H / 4, W / 4)`` where the layer keeps the size."""
        x, _ = self.align(input, 4)
        x, _ = self.settle(F.relu(self.conv2(F.relu(self.conv1(x)))), 2)
        x = self.pool(x)
        x, _ = self.settle(F.relu(self.conv4(F.relu(self.conv3(x)))), 2)
        y: Tensor = self.pool(x)
        return y


class CIFAR10Net(_FourLayers):
    """Small photographs: kernels 5, 5, 3, 3 to 128, 128, 128, 256 channels, averaged, then 256-120-84-10.

    By the released code; 904,062 parameters. As a planar network its convolutions are unpadded: 28, 24, 10, 8 rows; as
    a ring network they keep the size: 32, 32, 16, 16. The total stride is 4.

    Args:
        layer: what to build with.
        in_channels: C, channels of the images.
        classes: length of the output.
        exact: ``None`` as published, ``"polyphase"`` or ``"canonical"`` for exactness at every roll.

    >>> CIFAR10Net(TorusCCL)(torch.randn(2, 3, 32, 32)).shape
    torch.Size([2, 10])
    """

    def __init__(self, layer: Layer, in_channels: int = 3, classes: int = 10, *, exact: str | None = None) -> None:
        super().__init__(layer, in_channels, (128, 128, 128, 256), exact)
        self.fc1 = nn.Linear(256, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to log-probabilities ``(B, classes)``."""
        x = self.features(input).mean((-2, -1))
        return F.log_softmax(self.fc3(F.relu(self.fc2(F.relu(self.fc1(x))))), -1)


class PanoramaNet(_FourLayers):
    """Panoramic depth maps of 3D objects, 48 x 100, in 55 classes: a row-wise maximum around the ring reads it out.

    Input, classes and read-out are the paper's. The released code does not hold this network; what is open is taken
    from :class:`CIFAR10Net` (kernels, pools, the sizes of the last layers), with fewer channels by default. Its planar
    convolutions are zero-padded to the same size, so that they feed as many rows to the read-out as the ring's.

    Args:
        layer: what to build with.
        in_channels: C, channels of the panoramas.
        classes: length of the output.
        height: H of the panoramas to come: the read-out keeps the rows apart.
        channels: of the four layers.
        exact: ``None`` as published, ``"polyphase"`` or ``"canonical"`` for exactness at every roll.

    >>> PanoramaNet(TorusCCL)(torch.randn(2, 1, 48, 100)).shape
    torch.Size([2, 55])
    """

    def __init__(
        self,
        layer: Layer,
        in_channels: int = 1,
        classes: int = 55,
        height: int = 48,
        channels: tuple[int, int, int, int] = (32, 32, 64, 64),
        *,
        exact: str | None = None,
    ) -> None:
        super().__init__(_centred(layer), in_channels, channels, exact)
        self.height = height
        self.fc1 = nn.Linear(channels[-1] * (height // 4), 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, classes)

    def forward(self, input: Tensor) -> Tensor:
        """``(B, C, H, W)`` to log-probabilities ``(B, classes)``."""
        if input.ndim != 4 or input.shape[-2] != self.height:
            shape = tuple(input.shape)
            raise ValueError(f"PanoramaNet: input must be (B, C, {self.height}, W), as height= says, got shape {shape}")
        x = self.features(input).amax(-1).flatten(1)
        return F.log_softmax(self.fc3(F.relu(self.fc2(F.relu(self.fc1(x))))), -1)


class ChangeNet(ExactNetwork):
    """What changed between two views at unknown headings: kernels 3x7, 3x7, 3x5, 3x7, 3x7; 144,801 parameters.

    Both views pass the same two layers of 50 channels, each with a 2x4 pool; the features of view two are averaged
    over the image and added to those of view one; three layers, two of them behind an insertion of zeros that undoes
    a pool, and a sigmoid give the probability of change at every pixel. Rolling view one by a multiple of 16 rolls
    the result; rolling view two by a multiple of 16 leaves it as it is. With ``exact=`` both hold for every roll of
    either.

    By the released code, but for the planar network's decoder, which it builds of transposed convolutions. Each is an
    insertion of zeros and a correlation with the flipped kernel, which is how both networks are defined here; theirs
    sets each sample on the second column of its cell (``offset=(0, 1)``), the ring
    network's on the first. Planar convolutions are zero-padded to the same size, as released.

    Args:
        layer: what to build with.
        in_channels: C, channels of a view.
        channels: of the four hidden layers.
        offset: row and column of the sample in its 2x4 cell of zeros.
        exact: ``None`` as published, ``"polyphase"`` or ``"canonical"`` for exactness at every roll.

    >>> ChangeNet(TorusCCL, channels=4)(torch.randn(3, 2, 1, 28, 128)).shape
    torch.Size([3, 28, 128])
    """

    def __init__(
        self,
        layer: Layer,
        in_channels: int = 1,
        channels: int = 50,
        *,
        offset: tuple[int, int] = (0, 0),
        exact: str | None = None,
    ) -> None:
        super().__init__(exact)
        layer = _centred(layer)
        self.conv1 = layer(in_channels, channels, (3, 7), 1)
        self.conv2 = layer(channels, channels, (3, 7), 1)
        self.conv3 = layer(channels, channels, (3, 5), 1)
        self.conv4 = layer(channels, channels, (3, 7), 1)
        self.conv5 = layer(channels, 1, (3, 7), 1)
        self.pool = nn.MaxPool2d(_CELL)
        self.offset = offset

    def forward(self, input: Tensor) -> Tensor:
        """Pairs ``(B, 2, C, H, W)``, view one first, to probabilities ``(B, H, W)``; 4 divides H and 16 divides W."""
        self._check(input)
        x, origins = self.align(input.flatten(0, 1), 16)
        x, fine = self.settle(self.conv1(x), 4)
        x, coarse = self.settle(self.conv2(F.relu(self.pool(x))), 4)
        x = F.relu(self.pool(x)).unflatten(0, (-1, 2))
        x = x[:, 0] + x[:, 1].mean((-2, -1), keepdim=True)
        for layer, phase in ((self.conv3, coarse), (self.conv4, fine)):
            x = F.relu(layer(turn_back(_insert_zeros(x, self.offset), _of_view_one(phase))))
        y: Tensor = self.conv5(x)
        return turn_back(torch.sigmoid(y).squeeze(1), _of_view_one(origins))

    @staticmethod
    def _check(input: Tensor) -> None:
        shape = tuple(input.shape)
        if len(shape) != 5 or shape[1] != 2 or shape[3] % 4 or shape[4] % 16:
            raise ValueError(
                f"ChangeNet: input must be (B, 2, C, H, W) with H a multiple of 4 and W of 16, got shape {shape}"
            )


def load_published(path: str | os.PathLike[str], operator: str) -> nn.Module:
    """A network with the weights of a checkpoint in the released format, in evaluation mode.

    The file says which of the released networks it belongs to (MNIST, CIFAR-10 or change detection), but not whether
    it was trained with the ring operator: the two have the same names and shapes, and the file is read without
    running anything in it.

    Args:
        path: a ``.pt`` file as released: the ``state_dict`` of a network.
        operator: ``"ccl"`` for :class:`TorusCCL`, ``"cnn"`` for :class:`torch.nn.Conv2d`.
    """
    layer = OPERATORS[_checks.one_of("load_published", "operator", operator, OPERATORS)]
    weights = torch.load(path, map_location="cpu", weights_only=True)
    build: Layer = _network_of(weights, path)
    if build is ChangeNet and operator == "cnn":
        build, weights = functools.partial(ChangeNet, offset=(0, 1)), _from_transposed(weights)
    network = build(layer)
    network.load_state_dict(weights)
    return network.eval()


def _network_of(weights: Mapping[str, Tensor], path: str | os.PathLike[str]) -> type[MNISTNet | CIFAR10Net | ChangeNet]:
    last = weights.get("fc3.weight" if "fc3.weight" in weights else "conv5.weight")
    if last is None:
        raise ValueError(
            f"load_published: {os.fspath(path)!r} holds {', '.join(weights) or 'nothing'}; "
            "a published checkpoint holds conv1.weight … conv5.weight, or conv1.weight … fc3.weight"
        )
    if last.ndim == 2:
        return CIFAR10Net
    return MNISTNet if last.shape[-2:] == (1, 1) else ChangeNet


def _from_transposed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The decoder's transposed convolutions as correlations: channels swapped, kernels flipped."""
    decoder = {f"{name}.weight" for name in ("conv3", "conv4", "conv5")}
    return {name: w.transpose(0, 1).flip(-2, -1) if name in decoder else w for name, w in weights.items()}


def _centred(layer: Layer) -> Layer:
    """``layer``, or if it is a Conv2d, which pads nothing of itself, one that keeps the size."""
    planar = isinstance(layer, type) and issubclass(layer, nn.Conv2d)
    return functools.partial(layer, padding="same") if planar else layer


def _of_view_one(shifts: Tensor | None) -> Tensor | None:
    """Of ``(2B,)``, the views of each pair one after the other."""
    return None if shifts is None else shifts[::2]


def _insert_zeros(x: Tensor, offset: tuple[int, int]) -> Tensor:
    """``(B, C, H, W)`` to ``(B, C, 2H, 4W)``: each sample in a cell of zeros, at ``offset``."""
    (rows, columns), (top, left) = _CELL, offset
    cells = F.pad(x[:, :, :, None, :, None], (left, columns - 1 - left, 0, 0, top, rows - 1 - top))
    return cells.flatten(-2).flatten(2, 3)
