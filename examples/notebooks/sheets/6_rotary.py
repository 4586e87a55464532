# %% [markdown] title
# # 6. Rotary and relative positions
#
# Usually the distance of two words matters more than their places. With which positions do the weights depend on the distance only? Replace each `...` and run the cell.

# %% setup
import numpy as np

import sextant
from sextant import lessons, plot

# %% [markdown] q1
# ## 6.1 Rotate one pair
#
# Rotary positions rotate each pair of channels of q and k by an angle, which is the position times a rate. Rotate the pair `a` by `angle`, counterclockwise.

# %% q1-try
def turn(a, angle):
    return np.array([a[0] * np.cos(angle) - a[1] * np.sin(angle), a[0] * np.sin(angle) + a[1] * np.cos(angle)])  # blank


assert np.allclose(turn([1, 0], np.pi / 2), [0, 1]) and np.allclose(turn([0, 1], np.pi / 2), [-1, 0])

# %% [markdown] q2
# ## 6.2 The product of two rotated pairs
#
# q is at position 7 and k at position 4; the rate is 1 radian. Which single angle, applied to q alone, gives the same product?

# %% q2-try
q, k = np.array([0.8, -0.3]), np.array([0.5, 0.9])
product = turn(q, 7) @ turn(k, 4)
angle = 7 - 4  # blank
assert np.isclose(turn(q, angle) @ k, product)
f"{product:.4f}"

# %% [markdown] q3
# ## 6.3 A shift of the sentence
#
# The same sentence starts at position 0 and then at position 1000. What is the largest change of a weight? Write a function of the scheme that uses `first_position`.

# %% q3-try
def change(scheme):
    near, far = (lessons.attend("the dog chased the cat", scheme=scheme, first_position=first).weights for first in (0, 1000))  # blank
    return np.abs(near - far).max()


changes = {scheme: change(scheme) for scheme in ("sinusoidal", "rotary", "alibi")}
assert changes["sinusoidal"] > 0.01 and changes["rotary"] < 1e-12 and changes["alibi"] == 0
print(*(f"{scheme} {number:.1g}" for scheme, number in changes.items()), sep="\n")

# %% [markdown] q4
# ## 6.4 The product of two addresses
#
# The product of two sinusoidal addresses depends only on their distance. Compute the products of positions (3, 8) and (103, 108).

# %% q4-try
P = sextant.sinusoidal(200, 64, dtype="float64")
products = [P[3] @ P[8], P[103] @ P[108]]  # blank
assert np.isclose(*products)
print(*products)

# %% [markdown] q5
# ## 6.5 With matrices
#
# A score multiplies the addresses by the matrices of query and key first: (W P[a]) · (V P[b]). Compute it for both pairs of places.

# %% q5-try
rng = np.random.default_rng(0)
W, V = rng.standard_normal((2, 16, 64)) / 8
with_matrices = [(W @ P[3]) @ (V @ P[8]), (W @ P[103]) @ (V @ P[108])]  # blank
assert not np.isclose(*with_matrices)
print(*with_matrices)

# %% [markdown] q5-answer (answer)
# The products differ: with arbitrary matrices they no longer depend on the distance alone. Rotary positions rotate q and k after the matrices, so no matrix follows the rotation.

# %% [markdown] q6
# ## 6.6 One matrix for every shift
#
# For any offset there is one matrix M that turns every sinusoidal position into the position that is this offset further. Write it for width 2, where P[k] = (sin k, cos k), and an offset of 5.

# %% q6-try
M = np.array([[np.cos(5), np.sin(5)], [-np.sin(5), np.cos(5)]])  # blank
for position in range(50):
    assert np.allclose(M @ [np.sin(position), np.cos(position)], [np.sin(position + 5), np.cos(position + 5)])
plot.offset_matrix(5, width=8)

# %% [markdown] q7
# ## 6.7 ALiBi
#
# ALiBi subtracts slope times distance from a score. What does it add for the words 0 to 4 places back if the slope is 0.5?

# %% q7-try
added = [-0.5 * distance for distance in range(5)]  # blank
scores = sextant.attention_weights(np.zeros((1, 1, 5, 8)), np.zeros((1, 1, 5, 8)), slopes=[0.5], stage="biased")[0, 0]
assert np.allclose(scores[4, ::-1], added)
plot.distance(["alibi", "rotary"], length=64)
