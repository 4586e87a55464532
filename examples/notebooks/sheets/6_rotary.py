# %% [markdown] title
# # 6. Rotary and relative positions
#
# What matters is mostly how far apart two words are. Which positions tell a model just that? Replace each `...` and run the cell.

# %% setup
import numpy as np

import sextant
from sextant import lessons, plot

# %% [markdown] q1
# ## 6.1 Turn one pair
#
# Rotary positions turn each pair of channels of q and k by an angle, position times rate. Turn the pair `a` by `angle`, counterclockwise.

# %% q1-try
def turn(a, angle):
    return np.array([a[0] * np.cos(angle) - a[1] * np.sin(angle), a[0] * np.sin(angle) + a[1] * np.cos(angle)])  # blank


assert np.allclose(turn([1, 0], np.pi / 2), [0, 1]) and np.allclose(turn([0, 1], np.pi / 2), [-1, 0])

# %% [markdown] q2
# ## 6.2 The product of two turned pairs
#
# q stands at position 7 and k at position 4, the rate is 1 radian. Which single angle, applied to q alone, gives the same product?

# %% q2-try
q, k = np.array([0.8, -0.3]), np.array([0.5, 0.9])
product = turn(q, 7) @ turn(k, 4)
angle = 7 - 4  # blank
assert np.isclose(turn(q, angle) @ k, product)
f"{product:.4f}"

# %% [markdown] q3
# ## 6.3 A shift of the sentence
#
# The same sentence is read once from position 0 and once from position 1000. By how much does a weight change at most? Write a function of the scheme, with `first_position`.

# %% q3-try
def change(scheme):
    near, far = (lessons.attend("the dog chased the cat", scheme=scheme, first_position=first).weights for first in (0, 1000))  # blank
    return np.abs(near - far).max()


changes = {scheme: change(scheme) for scheme in ("sinusoidal", "rotary", "alibi")}
assert changes["sinusoidal"] > 0.01 and changes["rotary"] < 1e-12 and changes["alibi"] == 0
print(*(f"{scheme} {number:.1g}" for scheme, number in changes.items()), sep="\n")

# %% [markdown] q4
# ## 6.4 But are addresses not similar by distance alone?
#
# They are: the product of two sinusoidal addresses depends on the distance alone. Compute the products of positions (3, 8) and (103, 108).

# %% q4-try
P = sextant.sinusoidal(200, 64, dtype="float64")
products = [P[3] @ P[8], P[103] @ P[108]]  # blank
assert np.isclose(*products)
print(*products)

# %% [markdown] q5
# ## 6.5 With a matrix between them
#
# In a score the matrices of query and key stand between the addresses: (W P[a]) · (V P[b]). Compute it for both pairs of places.

# %% q5-try
rng = np.random.default_rng(0)
W, V = rng.standard_normal((2, 16, 64)) / 8
with_matrices = [(W @ P[3]) @ (V @ P[8]), (W @ P[103]) @ (V @ P[108])]  # blank
assert not np.isclose(*with_matrices)
print(*with_matrices)

# %% [markdown] q5-answer (answer)
# The products differ: a matrix that is not made for it does not keep what the pairs of sines and cosines have in common. Rotary positions turn q and k after the matrices, so nothing stands between.

# %% [markdown] q6
# ## 6.6 One matrix for every shift
#
# For any offset there is one matrix M that takes every sinusoidal position to the one so much further on. Write it for width 2, where P[k] = (sin k, cos k), and an offset of 5.

# %% q6-try
M = np.array([[np.cos(5), np.sin(5)], [-np.sin(5), np.cos(5)]])  # blank
for position in range(50):
    assert np.allclose(M @ [np.sin(position), np.cos(position)], [np.sin(position + 5), np.cos(position + 5)])
plot.offset_matrix(5, width=8)

# %% [markdown] q7
# ## 6.7 ALiBi
#
# ALiBi takes slope times distance off a score. With slope 0.5: what is added for the words 0 to 4 places back?

# %% q7-try
added = [-0.5 * distance for distance in range(5)]  # blank
scores = sextant.attention_weights(np.zeros((1, 1, 5, 8)), np.zeros((1, 1, 5, 8)), slopes=[0.5], stage="biased")[0, 0]
assert np.allclose(scores[4, ::-1], added)
plot.distance(["alibi", "rotary"], length=64)
