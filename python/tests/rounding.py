"""Arithmetic that bounds its own rounding errors: each number is a float64 value and the largest error that the same formula can
have in another arithmetic, however its sums are ordered.

Running error analysis (Wilkinson 1963; Higham 2002, Accuracy and Stability of Numerical Algorithms, sections 3.1 and 3.3):

- n roundings in a row change a result by at most the factor 1 +- gamma(n), gamma(n) = n u / (1 - n u), u the unit roundoff;
- so a sum of n terms, in any order, is off by at most gamma(n - 1) times the sum of their magnitudes, and a sum of n products
  by gamma(n) with multiply-adds, by one rounding more without;
- an error e of x becomes |y| e in x y, e in x + y, e^x (e^|e| - 1) in e^x, and at most e in tanh(x).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable

import numpy as np


@dataclass(frozen=True)
class Arithmetic:
    unit: float  # the largest relative error of a sum, a product, a quotient
    exp: float  # the largest relative error of exp
    tanh: float
    tiny: float  # results below it may become zeros
    rises: bool  # whether maxima are found block by block

    def gamma(self, roundings: int) -> float:
        return roundings * self.unit / (1 - roundings * self.unit)


# What the tests compare with is computed in float64 itself: 2^-53 more for each operation.
# exp and tanh as tests/kernels/simd/exp2_test.cc has them for every instruction set.
FLOAT32 = Arithmetic(2.0**-24 + 2.0**-53, 2.5e-7, 7e-7, 2.0**-126, True)
# exp and tanh of C libraries and of NumPy's vectors are within 4 units in the last place, which is 8 u.
FLOAT64 = Arithmetic(2 * 2.0**-53, 16 * 2.0**-53, 16 * 2.0**-53, 2.0**-1022, False)


class Rounded:
    """Values, and bounds of their errors; both arrays of float64."""

    __array_ufunc__ = None  # an array on the left leaves operators to us

    def __init__(self, value: Any, arithmetic: Arithmetic, error: Any = 0.0) -> None:
        self.value = np.asarray(value, np.float64)
        self.arithmetic = arithmetic
        self.error = np.broadcast_to(np.asarray(error, np.float64), self.value.shape)

    def after(self, roundings: int, value: Any, error: Any, size: Any = None) -> Rounded:
        """A result that was rounded so often; `size`: the sum of the magnitudes that were rounded, else that of the result."""
        largest = np.abs(value) + error if size is None else size
        tiny = roundings * self.arithmetic.tiny
        return Rounded(value, self.arithmetic, error + self.arithmetic.gamma(roundings) * largest + tiny)

    def rounded(self, roundings: int) -> Rounded:
        return self.after(roundings, self.value, self.error)

    def other(self, x: Any) -> Rounded:
        return x if isinstance(x, Rounded) else Rounded(x, self.arithmetic)

    def each(self, change: Callable[[Any], Any]) -> Rounded:
        """What moves values without computing: a transposition, a choice."""
        return Rounded(change(self.value), self.arithmetic, change(self.error))

    def where(self, kept: Any) -> Rounded:
        """Exact zeros elsewhere."""
        return self.each(lambda x: np.where(kept, x, 0.0))

    def __neg__(self) -> Rounded:
        return Rounded(-self.value, self.arithmetic, self.error)

    def __add__(self, x: Any) -> Rounded:
        x = self.other(x)
        return self.after(1, self.value + x.value, self.error + x.error)

    def __sub__(self, x: Any) -> Rounded:
        return self + -self.other(x)

    def __mul__(self, x: Any) -> Rounded:
        x = self.other(x)
        error = np.abs(self.value) * x.error + np.abs(x.value) * self.error + self.error * x.error
        return self.after(1, self.value * x.value, error)

    def __truediv__(self, x: Rounded) -> Rounded:
        """0 where the divisor is exactly 0, as for rows without visible keys."""
        empty = (x.value == 0) & (x.error == 0)
        divisor = np.where(empty, 1.0, x.value)
        value = np.where(empty, 0.0, self.value / divisor)
        error = (self.error + np.abs(value) * x.error) / (np.abs(divisor) - x.error)
        return self.after(1, value, np.where(empty, 0.0, error))

    def dot(self, x: Rounded, more: int = 0) -> Rounded:
        """self @ x, whose terms had `more` roundings in addition to those of the sum."""
        a, b = np.abs(self.value), np.abs(x.value)
        propagated = a @ x.error + self.error @ b + self.error @ x.error
        terms = self.value.shape[-1] + 1 + more
        return self.after(terms, self.value @ x.value, propagated, a @ b + propagated)

    def sum(self, axis: Any, terms: int, keepdims: bool = False) -> Rounded:
        """The sum along axes; `terms`: of how many numbers at most."""
        error = self.error.sum(axis, keepdims=keepdims)
        size = np.abs(self.value).sum(axis, keepdims=keepdims) + error
        return self.after(max(terms - 1, 0), self.value.sum(axis, keepdims=keepdims), error, size)

    def exp(self) -> Rounded:
        value = np.exp(self.value)
        error = value * np.expm1(self.error)
        return Rounded(value, self.arithmetic, error + self.arithmetic.exp * (value + error) + self.arithmetic.tiny)

    def log(self) -> Rounded:
        """Of sums, computed in float64 and rounded."""
        return self.after(1, np.log(self.value), -np.log1p(-self.error / self.value))

    def tanh(self) -> Rounded:
        value = np.tanh(self.value)
        nearest = np.maximum(np.abs(self.value) - self.error, 0)  # where the slope is largest
        error = self.error / np.cosh(np.minimum(nearest, 300)) ** 2
        return Rounded(value, self.arithmetic, error + self.arithmetic.tanh * (np.abs(value) + error))


# dtype: (unit roundoff, half the distance of its smallest numbers) of one more rounding, where results are stored.
STORED = {"float16": (2.0**-11, 2.0**-25), "bfloat16": (2.0**-8, 2.0**-126)}


def stored(x: Rounded, dtype: Any) -> Rounded:
    unit, tiny = STORED.get(np.dtype(dtype).name, (0.0, 0.0))
    return Rounded(x.value, x.arithmetic, x.error + unit * (np.abs(x.value) + x.error) + tiny)


def assert_within(got: Any, expected: Rounded) -> None:
    """Every number of the array is as near to the value as its bound says."""
    got = np.asarray(got).astype(np.float64)
    assert got.shape == expected.value.shape
    far = ~(np.abs(got - expected.value) <= expected.error)
    if far.any():
        at = tuple(int(i) for i in np.argwhere(far)[0])
        raise AssertionError(
            f"{far.sum()} of {far.size} numbers are beyond their bound; at {at}: got {got[at]}, expected {expected.value[at]} "
            f"within {expected.error[at]:.3g}, off by {abs(got[at] - expected.value[at]):.3g}"
        )
