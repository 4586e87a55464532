// Prints exact positions and one attention head of a sentence in the terminal.
#include <iostream>
#include <string>
#include <vector>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  const auto positions = sx::sinusoidal<double>({.length = 4, .width = 4, .base = 100});
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) std::cout << sx::fixed(positions(row, i), 6) << "  ";
    std::cout << '\n';
  }

  const std::vector<std::string> words = sx::split_words("the black cat sat on the couch .");
  const auto attention = sx::attend_sentences(words, {}, {.schemes = {"rotary"}, .causal = true});
  const auto head = attention.masked_weights.view().select(0, 0);
  std::cout << sx::draw_terminal({.values = head,
                                  .row_labels = words,
                                  .column_labels = words,
                                  .low = 0,
                                  .high = 1,
                                  .color = false,
                                  .hides = true});
}
