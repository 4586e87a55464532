// Draws pairs of sine and cosine as hands of clocks: one dial per word and pair.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sextant/pictures/canvas.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::figures {

// Draws pair k of a sinusoidal table, (sin(p w_k), cos(p w_k)), as a hand at the angle p w_k,
// clockwise from 12 o'clock, at position p = options.first + i for words[i]: a column per word, a
// row per pair, fast ones first. Words that do not fit into `max_width` CSS pixels, 280 or more,
// are in further rows. Throws an Error with figure.words for no word or more than 64, and
// with figure.pairs for none and for one that the table does not have, and with figure.max_width.
Picture plot_clock_hands(const Sinusoidal& options, const std::vector<std::int64_t>& pairs,
                         const std::vector<std::string>& words, double max_width = 3000);

}  // namespace sextant::figures
