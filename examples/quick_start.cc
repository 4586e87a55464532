// Exact positions, and one attention head of a sentence, in the terminal.
#include <iostream>

#include "sextant/sextant.h"

namespace sx = sextant;

int main() {
  sx::Sinusoidal table;
  table.length = 4, table.width = 4, table.base = 100;
  const sx::Tensor<double> positions = sx::sinusoidal<double>(table);
  for (std::int64_t row = 0; row < 4; ++row) {
    for (std::int64_t i = 0; i < 4; ++i) std::cout << sx::fixed(positions(row, i), 6) << "  ";
    std::cout << '\n';
  }

  sx::SentenceAttentionOptions options;
  options.scheme = "rotary", options.causal = true;
  const sx::SentenceAttention attention =
      sx::attend_sentences(sx::split_words("the black cat sat on the couch ."), {}, options);
  sx::TerminalMap map;
  map.values = attention.weights.view().select(0, 0);
  map.row_labels = attention.queries, map.column_labels = attention.keys;
  map.color = false;
  std::cout << sx::draw_terminal(map);
}
