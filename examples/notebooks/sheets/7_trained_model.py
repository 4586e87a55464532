# %% [markdown] title
# # 7. A trained model
#
# Sextant includes a small translator of dates with 44,160 parameters. Where does it look, and what do its positions do? Replace each `...` and run the cell. Only the last question trains a model.

# %% setup
import numpy as np

import sextant
from sextant import plot

dates = sextant.shipped()
text = "the fourth of July 1999"
written = dates.translate(text)
maps = dates.attention_maps(text)
written

# %% [markdown] q1
# ## 7.1 The shape of a map
#
# `weights` has the weights of its four heads. What do the three axes mean, and how long are the last two? Use `written` and `text`; the model also writes an end sign.

# %% q1-try
weights = maps.cross.weights[0]
rows, columns = len(written) + 1, len(text)  # blank
assert weights.shape == (4, rows, columns)
plot.attention(weights.mean(axis=0), maps.cross.queries, maps.cross.keys, title="Mean of four heads", row_name="written", column_name="read")

# %% [markdown] q2
# ## 7.2 Where it looks for the month
#
# Rows 5 and 6 are the two digits of the month. What share of their weight, in the mean of the heads and of both rows, is on the letters of "July"?

# %% q2-try
begin = text.index("July")
share = weights.mean(axis=0)[5:7, begin : begin + 4].sum(axis=1).mean()  # blank
assert 0.5 < share < 1
f"{100 * share:.0f} %"

# %% [markdown] q3
# ## 7.3 One head
#
# Which head has the most weight on "July" while the model writes the month?

# %% q3-try
by_head = weights[:, 5:7, begin : begin + 4].sum(axis=2).mean(axis=1)
head = int(by_head.argmax())  # blank
assert by_head[head] == max(by_head)
print(by_head.round(2), "head", head)

# %% [markdown] q4
# ## 7.4 Without its positions
#
# Predict the output of the trained model after its positions are removed: "the same", "another date" or "no date". Then run the cell.

# %% q4-try
guess = "no date"  # blank
blind = sextant.shipped(without_positions=True).translate(text)
is_date = len(blind) == 10 and blind[4] == blind[7] == "-"
assert guess == ("the same" if blind == written else "another date" if is_date else "no date")
blind

# %% [markdown] q5
# ## 7.5 A fair comparison
#
# The model was trained with the positions and depends on them. Does this show that no model can do the task without positions? Which models would you have to train to find out?

# %% [markdown] q5-answer (answer)
# No: removing a part shows only that the part was used. A model that is trained without positions from the start can use other information, for instance its causal mask. Train both in the same way and compare them, as in the last question.

# %% [markdown] q6
# ## 7.6 How sure it is
#
# The model was trained on years from 1900 to 2099. Give it a date of another century and read the probability of its answer.

# %% q6-try
best, second = dates.translate("july 4th, 1776", n_best=2)  # blank
assert best.text != "1776-07-04"
print(best.text, f"{best.probability:.2f};", second.text, f"{second.probability:.2f}")

# %% [markdown] q6-answer (answer)
# It writes a date in the years of its training. A probability compares the answers that a model can give; it does not say whether the question made sense.

# %% [markdown] q7
# ## 7.7 Train two
#
# Two tiny models learn to write letters backwards, one with rotary positions and one without positions. Predict which has the lower loss at the end, and train them.

# %% q7-try
lower = "rotary"  # blank
options = dict(steps=200, width=32, heads=2, layers=1, rate=0.01, threads=1, progress=False)
losses = {scheme: sextant.train.reverse(scheme=scheme, **options).training.mean_loss[-1] for scheme in ("none", "rotary")}
assert lower == min(losses, key=losses.get)
print(*(f"{scheme}: loss {loss:.2f}" for scheme, loss in losses.items()), sep="\n")
