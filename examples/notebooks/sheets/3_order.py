# %% [markdown] title
# # 3. Order: who chased whom?
#
# This sheet uses the toy model of the laboratory, one layer of attention without positions: six words, vectors of three numbers. Replace each `...` and run the cell.

# %% setup
import numpy as np

import sextant
from sextant import lessons

zebra, lion = "the zebra chased the lion .", "the lion chased the zebra ."
one, two = lessons.lab(zebra), lessons.lab(lion)
print(one.weights[-1].round(3), two.weights[-1].round(3), sep="\n")

# %% [markdown] q1
# ## 3.1 The weights move with the words
#
# The rows above are the weights of the last word, the full stop, for both sentences. Which order of places turns the first row into the second?

# %% q1-try
places = [0, 4, 2, 3, 1, 5]  # blank
assert np.allclose(one.weights[-1][places], two.weights[-1])
[zebra.split()[place] for place in places]

# %% [markdown] q2
# ## 3.2 The sum does not change
#
# The output of a word is the sum of the values of all words, each times its weight. Compute the output of the full stop from `weights` and `values` of each sentence.

# %% q2-try
outputs = [run.weights[-1] @ run.values for run in (one, two)]  # blank
assert np.allclose(outputs[0], one.output[-1]) and np.allclose(outputs[1], two.output[-1])
print(*outputs, sep="\n")

# %% [markdown] q3
# ## 3.3 Why
#
# The two outputs are equal except for rounding. Give the reason in one sentence.

# %% [markdown] q3-answer (answer)
# Each word has the same weight and the same value at any place, and a sum does not depend on the order of its terms.

# %% [markdown] q4
# ## 3.4 Guess, then compute
#
# Which of these pairs have the same output at the last word? Write True or False for each, then run the cell.

# %% q4-try
pairs = [(zebra, "chased the lion the zebra ."), ("the lion chased .", "lion the chased ."), ("lion the chased .", "chased the . lion")]
guesses = [True, True, False]  # blank
found = [lessons.lab_compare(*pair).same for pair in pairs]
assert guesses == found
[lessons.lab_compare(*pair).headline for pair in pairs]

# %% [markdown] q5
# ## 3.5 With positions
#
# Give the model sinusoidal positions. Do the outputs differ now, and by how much?

# %% q5-try
verdict = lessons.lab_compare(zebra, lion, scheme="sinusoidal")  # blank
assert not verdict.same and not verdict.last_differs and verdict.largest_difference > 0.1
print(verdict)

# %% [markdown] q6
# ## 3.6 Two layers
#
# The first layer has a causal mask: a word sees itself and the words before it. Its outputs are the inputs of the second. Complete the second layer, which is the same attention again. Does the output of the last word depend on the order now? There are still no positions.

# %% q6-try
random = np.random.RandomState(2311).random_sample
vocabulary = "<pad> the zebra chased lion .".split()
embeddings, W_q, W_k, W_v = random((6, 3)), random((3, 3)), random((3, 3)), random((3, 3))


def layer(x, causal="top_left"):
    q, k, v = ((x @ W)[None, None] for W in (W_q, W_k, W_v))
    return sextant.attention(q, k, v, causal=causal)[0, 0]


def two_layers(sentence, causal="top_left"):
    x = embeddings[[vocabulary.index(word) for word in sentence.split()]]
    return layer(layer(x, causal), causal)[-1]  # blank


seen = np.abs(two_layers(zebra) - two_layers(lion)).max()
blind = np.abs(two_layers(zebra, None) - two_layers(lion, None)).max()
assert seen > 1e-3 and blind < 1e-12
print(f"causal: {seen:.3f}, without a mask: {blind:.0e}")

# %% [markdown] q6-answer (answer)
# "chased" has seen "zebra" in one sentence and "lion" in the other, so its output of the first layer differs, and the second layer reads it. "Order is invisible without positions" holds only for the last word of one layer, or without a mask.
