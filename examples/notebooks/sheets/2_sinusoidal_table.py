# %% [markdown] title
# # 2. The sinusoidal table by hand
#
# A position becomes a row of sines and cosines: `P[k, 2i] = sin(k / n^(2i/d))` and `P[k, 2i+1] = cos(k / n^(2i/d))`. Replace each `...` and run the cell.

# %% setup
import numpy as np

import sextant
from sextant import plot

d, n = 4, 100

# %% [markdown] q1
# ## 2.1 Two rates
#
# With d = 4 and n = 100 there are two pairs of columns, i = 0 and i = 1. By how much does the angle of each grow from one position to the next? The angle of pair i at position k is k / n^(2i/d).

# %% q1-try
rates = [1 / n ** (2 * i / d) for i in range(2)]  # blank
assert np.isclose(np.sin(rates), sextant.sinusoidal(2, d, base=n, dtype="float64")[1, ::2]).all()
rates

# %% [markdown] q2
# ## 2.2 One row with a calculator
#
# Write the four numbers of position 2 with `np.sin` and `np.cos`; work out the angles (in radians) yourself.

# %% q2-try
row = [np.sin(2), np.cos(2), np.sin(0.2), np.cos(0.2)]  # blank
assert np.allclose(row, sextant.sinusoidal(3, d, base=n, dtype="float64")[2])
np.round(row, 4)

# %% [markdown] q3
# ## 2.3 The whole table
#
# Write a function for any length, width and base.

# %% q3-try
def table(length, width, base):
    k, i = np.arange(length)[:, None], np.arange(width // 2)
    angles = k / base ** (2 * i / width)  # blank
    return np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(length, width)


assert np.abs(table(50, 64, 10000) - sextant.sinusoidal(50, 64, dtype="float64")).max() < 1e-13
plot.heatmap("sinusoidal", length=50, width=64)

# %% [markdown] q4
# ## 2.4 Position 0
#
# Which numbers are in row 0, for every width and base? Build the row without a sine.

# %% q4-try
row_0 = np.tile([0, 1], 3)  # blank
assert np.array_equal(row_0, table(1, 6, 10000)[0])
row_0

# %% [markdown] q5
# ## 2.5 Lengths of rows
#
# What is the length of every row of a table of width d (the square root of the sum of its squares)? Give a formula in d.

# %% q5-try
def length_of_row(d):
    return np.sqrt(d / 2)  # blank


assert np.allclose(np.linalg.norm(table(100, 64, 10000), axis=1), length_of_row(64))
print(length_of_row(64))

# %% [markdown] q5-answer (answer)
# Each pair has sin² + cos² = 1, and there are d/2 pairs. So all positions have the same length, and adding them favours none.

# %% [markdown] q6
# ## 2.6 A misprinted formula
#
# Printed formulas sometimes lose the exponent: `sin(k / (10000 * 2i/d))`. Compute the rates of the pairs i = 1 ... 255 of width 512 with this formula. By how much does the fastest of them turn over 100 positions?

# %% q6-try
i = np.arange(1, 256)
printed = 1 / (10000 * 2 * i / 512)  # blank
turned = 100 * printed.max()  # blank
assert np.isclose(turned, 2.56)
print(f"the fastest pair turns by {turned:.2f} radians in 100 positions, half of them by less than {100 * np.median(printed):.3f}")

# %% [markdown] q6-answer (answer)
# i = 0 divides by zero, and all others turn slowly: neighbours differ by at most 0.03 radians, and most pairs hardly move. The rates decrease as 1/i instead of by a constant factor, so there are no fast hands.

# %% [markdown] q7
# ## 2.7 A loop with a mistake
#
# In a loop `for i in range(0, d, 2)`, `i` already includes the factor 2. Code that computes `2 * i / d` in it doubles every exponent. What is the rate of the last pair of width 512 by the formula, and what is it in that loop?

# %% q7-try
by_formula = 10000 ** -(510 / 512)  # blank
in_loop = 10000 ** -(2 * 510 / 512)  # blank
doubled = sextant.sinusoidal([1], 512, exponent="doubled", dtype="float64")[0]
assert np.isclose(doubled[510], np.sin(in_loop), rtol=1e-12) and np.isclose(by_formula**2, in_loop)
print(f"{by_formula:.3g} and {in_loop:.3g} radians a position")
