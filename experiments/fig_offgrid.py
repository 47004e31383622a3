"""How equivariant networks are at angles between the columns: what strides, pools, ReLU and blur leave of the symmetry.

    python experiments/fig_offgrid.py            about two minutes on one core
    python experiments/fig_offgrid.py --smoke    seconds: two angles, nothing written

Inputs are noise, band-limited around the ring, of 2 channels, 16 rows and 64 columns; networks are untrained, but for
their normalisation. Each input is turned by a fraction of a column (a Fourier shift, which is exact for these), and
the output is compared with the turned output by the equivariance error. ``experiments/render.py`` draws the result.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from _results import RESULTS, write
from torch import Tensor, nn

import ringconv as rc

WIDTH, ROWS, INPUTS = 64, 16, 32
FRACTIONS = tuple(i / 16 for i in range(17))
BANDS = (2, 4, 8, 12, 16, 20, 24, 28, 31)
BAND = 8


def layers(relu: bool) -> nn.Module:
    """Three ring layers."""
    net = nn.Sequential()
    for i in range(3):
        net.append(rc.nn.RingConv2d(2 if i == 0 else 8, 8, 3))
        if relu and i < 2:
            net.append(nn.ReLU())
    return net


def unet(exact: str | None, blur: int = 1) -> nn.Module:
    """A U-Net of three levels."""
    return rc.models.RingUNet(2, 8, (8, 16, 16), exact=exact, blur=blur)


NETWORKS: dict[str, Callable[[], nn.Module]] = {
    "three layers": lambda: layers(relu=False),
    "three layers, ReLU": lambda: layers(relu=True),
    "U-Net, plain": lambda: unet(None),
    "U-Net, canonical": lambda: unet("canonical"),
    "U-Net, polyphase": lambda: unet("polyphase"),
    "U-Net, polyphase, blur 3": lambda: unet("polyphase", 3),
    "U-Net, polyphase, blur 5": lambda: unet("polyphase", 5),
}


def images(band: int, count: int) -> Tensor:
    """Noise of harmonics 0 … ``band`` around the ring."""
    draw = torch.Generator().manual_seed(band)
    spectrum = torch.fft.rfft(torch.randn(count, 2, ROWS, WIDTH, generator=draw, dtype=torch.float64))
    spectrum[..., band + 1 :] = 0
    x = torch.fft.irfft(spectrum, WIDTH)
    return x / x.std()


@torch.no_grad()
def calibrate(model: nn.Module, x: Tensor) -> nn.Module:
    """Give every batch normalisation the statistics of these inputs, as training does, so that all levels count."""
    for norm in (m for m in model.modules() if isinstance(m, nn.BatchNorm2d)):
        norm.momentum = 1.0
    model.train()(x)
    return model.eval()


@torch.no_grad()
def error(model: nn.Module, x: Tensor, columns: float) -> float:
    """The paper's ε for a turn by a part of a column."""
    degrees = 360 * columns / WIDTH
    turned = rc.rotate(model(x), degrees)
    difference = (turned - model(rc.rotate(x, degrees))).flatten(1).std(1)
    return (difference / turned.flatten(1).std(1)).mean().item()


def main() -> None:
    """Measure every network and write ``results/fig_offgrid.json``."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--smoke", action="store_true", help="two inputs, two angles, nothing written")
    smoke = parser.parse_args().smoke
    count, fractions, bands = (2, (0.0, 0.5), (BAND,)) if smoke else (INPUTS, FRACTIONS, BANDS)
    curves = []
    for name, build in NETWORKS.items():
        torch.manual_seed(0)
        model = calibrate(build().double(), images(BAND, count))
        by_fraction = [error(model, images(BAND, count), fraction) for fraction in fractions]
        by_band = [error(model, images(band, count), 0.5) for band in bands]
        curves.append({"network": name, "by_fraction": by_fraction, "by_band": by_band})
        print(f"{name:<26} largest error at band {BAND}: {max(by_fraction):.2e}")
    if not smoke:
        setting = {"inputs": count, "channels": 2, "rows": ROWS, "columns": WIDTH, "band": BAND, "dtype": "float64"}
        data = {"setting": setting, "fractions": fractions, "bands": bands, "curves": curves}
        print(write("fig_offgrid", data).relative_to(RESULTS.parent.parent))


if __name__ == "__main__":
    main()
