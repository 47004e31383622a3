"""The networks that we recommend instead of the published ones."""

from .change import ChangeUNet
from .classifier import RingClassifier
from .detect import Change, ChangeDetector
from .resnet import RingResNet
from .unet import RingUNet

__all__ = [
    "Change",
    "ChangeDetector",
    "ChangeUNet",
    "RingClassifier",
    "RingResNet",
    "RingUNet",
]
