# %% [markdown] title
# # 4. One attention weight by hand
#
# How much does "cat" attend to "dog"? This sheet leads from the vectors of the words to one weight and one output. The numbers are those of head 0 of the model in the explorer's lesson, steps 5 to 7.

# %% setup
import numpy as np

from sextant import lessons

words = "the dog chased the cat".split()
inside = lessons.steps(words, width=8, heads=2, seed=9)
q, k, v = inside["q"][0], inside["k"][0], inside["v"][0]  # head 0
cat, dog = 4, 1
print("q of 'cat'", q[cat].round(3), "\nk of 'dog'", k[dog].round(3))

# %% [markdown] q1
# ## 4.1 How q is computed
#
# The input of each word is its vector plus its address. It is multiplied by a matrix, and a bias is added. Head 0 uses the first four rows of both. Compute q of "cat" from `W`, `bias` and the input `x` of "cat".

# %% q1-try
x = inside["inputs"][cat]
W, bias = inside["w_q"][:4, :8], inside["w_q"][:4, 8]
by_hand = W @ x + bias  # blank
assert np.allclose(by_hand, q[cat])
by_hand.round(3)

# %% [markdown] q2
# ## 4.2 The score
#
# Multiply q of "cat" and k of "dog" channel by channel, add the products, and divide by the square root of the number of channels of the head.

# %% q2-try
score = (q[cat] * k[dog]).sum() / np.sqrt(4)  # blank
assert np.isclose(score, inside["scores"][0, cat, dog])
f"{score:.4f}"

# %% [markdown] q3
# ## 4.3 The weight
#
# `row` has the scores of "cat" with all words. The softmax raises e to the power of each score and divides by the sum. What is the weight of "dog"?

# %% q3-try
row = inside["scores"][0, cat]
weight = np.exp(row[dog]) / np.exp(row).sum()  # blank
assert np.isclose(weight, inside["weights"][0, cat, dog])
print("scores", row.round(3), "weight of 'dog'", weight.round(4))

# %% [markdown] q4
# ## 4.4 Larger scores
#
# Every score of the row grows by 5. Predict what happens to the weights before you run the cell: write "same", "larger" or "smaller" for the weight of "dog".

# %% q4-try
guess = "same"  # blank
shifted = np.exp(row + 5) / np.exp(row + 5).sum()
assert guess == ("same" if np.isclose(shifted[dog], weight) else "larger" if shifted[dog] > weight else "smaller")
shifted.round(4)

# %% [markdown] q4-answer (answer)
# e^(s + 5) = e^5 e^s: the factor is in every term of the row and in its sum, so it cancels. Programs therefore subtract the largest score first, so that no power overflows.

# %% [markdown] q5
# ## 4.5 One word fewer in the row
#
# A weight of "cat" for "dog" is a share. Remove the last word but one ("the", place 3) from the row: which weights change?

# %% q5-try
left = np.delete(row, 3)
weights = np.exp(left) / np.exp(left).sum()  # blank
assert np.isclose(weights.sum(), 1) and weights[dog] > weight
print(inside["weights"][0, cat].round(3), weights.round(3), sep="\n")

# %% [markdown] q5-answer (answer)
# All other weights grow. A score depends only on its two words and their places; a weight depends on all words of its row.

# %% [markdown] q6
# ## 4.6 The output
#
# The output of head 0 for "cat" is the sum of the values of all words, each times its weight. Compute its four numbers.

# %% q6-try
share = inside["weights"][0, cat]
output = share @ v  # blank
assert np.allclose(output, inside["mixed"][0, cat])
output.round(4)

# %% [markdown] q7
# ## 4.7 The use of the output
#
# What happens to this output next, in a complete model?

# %% [markdown] q7-answer (answer)
# The outputs of all heads are joined and multiplied by one more matrix. The result is added to the input and normalised, passes through a small network, and becomes the input of the next layer. After the last layer the model computes from it which word comes next.
