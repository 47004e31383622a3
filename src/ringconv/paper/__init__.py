"""The paper's operators and networks, exactly as published: to load its weights and to compare with."""

from .networks import ChangeNet, CIFAR10Net, MNISTNet, PanoramaNet, load_published
from .operators import DCTProductCCL, TorusCCL, dct_product_correlation, torus_convolution

__all__ = [
    "CIFAR10Net",
    "ChangeNet",
    "DCTProductCCL",
    "MNISTNet",
    "PanoramaNet",
    "TorusCCL",
    "dct_product_correlation",
    "load_published",
    "torus_convolution",
]
