# %% [markdown] title
# # 1. Words and vectors
#
# A model does not read letters. It looks up each word in a table and takes a row of numbers from it. Replace each `...` and run the cell: it fails if your answer is wrong.

# %% setup
import numpy as np

import sextant
from sextant import lessons

sentence = "the dog chased the cat".split()
inside = lessons.steps(sentence, width=8, heads=2, seed=9, scheme="none")
vectors = inside["embeddings"]
vectors.round(2)

# %% [markdown] q1
# ## 1.1 Rows and columns
#
# How many rows and how many columns does the table above have? Use `sentence` and the shape of the table.

# %% q1-try
rows = len(sentence)  # blank
columns = vectors.shape[1]  # blank
assert (rows, columns) == vectors.shape
print(rows, "words,", columns, "numbers each")

# %% [markdown] q2
# ## 1.2 The same word twice
#
# "the" is word 0 and word 3. What is the largest absolute difference of their two rows?

# %% q2-try
difference = np.abs(vectors[0] - vectors[3]).max()  # blank
assert difference == np.max(np.abs(vectors[3] - vectors[0]))
print("largest difference:", difference)

# %% [markdown] q2-why
# Why must it be this number? What would a different row for the second "the" need?

# %% [markdown] q2-answer (answer)
# It is 0: the table is indexed by the word and not by its place, so it gives the same row. A different row would also have to depend on the place. Positions add this.

# %% [markdown] q3
# ## 1.3 A vocabulary by hand
#
# Known words get numbers in alphabetical order from 1. Number 0 is for all unknown words (`OOV`, out of vocabulary). Write the function.

# %% q3-try
known = sorted(set("I am a robot . what is this".lower().split()))
numbers = {word: i + 1 for i, word in enumerate(known)}


def tokens(text):
    return [numbers.get(word, 0) for word in text.lower().split()]  # blank


assert tokens("This is a sextant")[:3] == [numbers["this"], numbers["is"], numbers["a"]]
assert tokens("This is a sextant")[3] == 0
tokens("What am I")

# %% [markdown] q4
# ## 1.4 How similar are two words?
#
# The cosine similarity of two vectors is their dot product divided by both lengths: 1 for the same direction, 0 for a right angle. Write it with basic operations, not with a library function for the cosine.

# %% q4-try
def cosine(a, b):
    return a @ b / (np.sqrt(a @ a) * np.sqrt(b @ b))  # blank


table = lessons.similarity(vectors)
assert np.isclose(cosine(vectors[1], vectors[4]), table[1, 4])
print("dog and cat:", f"{cosine(vectors[1], vectors[4]):.3f}")

# %% [markdown] q5
# ## 1.5 What the number means
#
# These vectors are random. Does the similarity of "dog" and "cat" say anything about dogs and cats? What must happen to the table first?

# %% [markdown] q5-answer (answer)
# No: with another seed the number is different. Training changes the rows: words that occur among the same words get rows in similar directions.

# %% [markdown] q6
# ## 1.6 Word arithmetic
#
# The directions of these four vectors are royal, male and female. Compute king - boy + girl. Which word has this vector?

# %% q6-try
words = {"king": [1, 1, 0], "boy": [0, 1, 0], "girl": [0, 0, 1], "queen": [1, 0, 1]}
words = {name: np.array(vector, float) for name, vector in words.items()}
result = words["king"] - words["boy"] + words["girl"]  # blank
nearest = max(words, key=lambda name: cosine(words[name], result))
assert cosine(words["queen"], result) > 0.999
print(result, "is", nearest)
