# %% [markdown] title
# # 5. Masks and heads
#
# Masks say which words a word may attend to; several heads give several tables of weights. Replace each `...` and run the cell.

# %% setup
import numpy as np

import sextant
from sextant import lessons, plot

words = "I am a robot".split()
inside = lessons.steps(words, heads=1, scheme="sinusoidal")
scores = inside["scores"][0]
scores.round(2)

# %% [markdown] q1
# ## 5.1 The causal mask
#
# A model that generates text must not attend to later words. Make a table of True and False: True where a query (row) sees a key (column).

# %% q1-try
length = len(words)
sees = np.tril(np.ones((length, length), bool))  # blank
assert sees[2].tolist() == [True, True, True, False] and sees.sum() == 10
sees

# %% [markdown] q2
# ## 5.2 Before the softmax
#
# Hidden scores count as minus infinity. Compute the weights; each row must add up to 1.

# %% q2-try
def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


causal = softmax(np.where(sees, scores, -np.inf))  # blank
assert np.allclose(causal, lessons.attend(words, heads=1, causal=True).weights[0])
assert np.allclose(causal.sum(axis=1), 1)
plot.attention(causal, words, title="Causal")

# %% [markdown] q3
# ## 5.3 After the softmax
#
# A text says: "Make sure the masking happens after attention is applied". Set hidden weights to zero after the softmax instead, and compute the sum of each row.

# %% q3-try
after = np.where(sees, softmax(scores), 0)  # blank
sums = after.sum(axis=1)
assert np.isclose(sums[-1], 1) and sums[0] < 0.5
sums.round(3)

# %% [markdown] q3-answer (answer)
# Only the last row adds up to 1. The first words get short vectors only because of their place, so the mask must be applied before the softmax.

# %% [markdown] q4
# ## 5.4 Padding
#
# The sentences of a batch differ in length, so shorter ones are padded with token 0. Compute the mask from the batch: True for a real token.

# %% q4-try
batch = np.array([[5, 3, 9, 4], [7, 2, 0, 0]])
real = batch != 0  # blank
assert real.tolist() == [[True] * 4, [True, True, False, False]]

# %% [markdown] q5
# ## 5.5 Four axes
#
# Scores have four axes: [batch, heads, queries, keys]. Give the padding mask and the causal mask shapes that fit these axes, and combine them: True where both are True.

# %% q5-try
of_padding = real[:, None, None, :]  # blank
of_order = sees[None, None, :, :]  # blank
both = of_padding & of_order
assert both.shape == (2, 1, 4, 4)

rng = np.random.default_rng(0)
q, k = rng.standard_normal((2, 2, 8, 4, 16))  # two sentences, eight heads, four words, 16 channels
weights = sextant.attention_weights(q, k, mask=both)
again = sextant.attention_weights(q, k, mask=of_padding, causal="top_left")
assert np.array_equal(weights, again) and (weights[1, :, :, 2:] == 0).all()

# %% [markdown] q5-answer (answer)
# A mask is broadcast, so axes of length 1 fit every head and every sentence. In a layer that takes [batch, queries, keys] the mask has three axes; with four it is an error, or it fits by chance and means something else.

# %% [markdown] q6
# ## 5.6 Splitting into heads
#
# A vector of 64 channels becomes four heads of 16 channels. Split `x` so that the result has the shape [heads, words, channels].

# %% q6-try
x = rng.standard_normal((4, 64))
heads = x.reshape(4, 4, 16).swapaxes(0, 1)  # blank
assert heads.shape == (4, 4, 16) and np.array_equal(heads[1, 2], x[2, 16:32])

# %% [markdown] q7
# ## 5.7 The use of several heads
#
# Queries and keys of 64 channels could also give one table of weights. What can four tables do that one cannot?

# %% [markdown] q7-answer (answer)
# A row of one table adds up to 1, so a larger weight for one word means smaller weights for the others. With four tables a word can attend to four different words and keep their values apart: the parts are joined, not added.
