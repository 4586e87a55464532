"""What the package raises for a caller's mistake."""

from __future__ import annotations


class Error(Exception):
    """The base of every error of this package: "[function.argument] must be ..., got ...". Each is one of Python's kinds as well."""


class ArgumentError(Error, ValueError):
    """A value or a shape that does not fit, or a file that cannot be used."""


class ArgumentTypeError(Error, TypeError):
    """An argument of another type or dtype, or one that there is not."""


class UnsupportedError(Error, NotImplementedError):
    """What is not computed here, such as a second derivative of attention."""


class MissingFileError(ArgumentError, FileNotFoundError):
    """A file or folder that is not there."""


for _each in (Error, ArgumentError, ArgumentTypeError, UnsupportedError, MissingFileError):
    _each.__module__ = "sextant"  # where users find them
