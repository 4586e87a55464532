// Shows the half-split table, the embedding layer with padding, and the offset matrix, as in notes
// on "Attention is all you need".
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <string>

#include "print.h"
#include "sextant/sextant.h"

namespace {

// Returns the largest |PE(p + offset) - M PE(p)| over a table.
double offset_error(const sextant::Sinusoidal& options, const sextant::Tensor<double>& table,
                    std::int64_t offset) {
  // A Linear with weight M computes y = x M^T for each row.
  sextant::Linear<double> map;
  map.weight = sextant::offset_matrix(options, offset);
  const std::int64_t rows = table.size(0) - offset;
  const sextant::Tensor<double> moved = map(table.view().narrow(0, 0, rows));
  double largest = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t i = 0; i < table.size(1); ++i) {
      largest = std::max(largest, std::abs(moved(row, i) - table(row + offset, i)));
    }
  }
  return largest;
}

}  // namespace

int main() {
  const sextant::Sinusoidal options{
      .length = 2048, .width = 512, .layout = sextant::SinusoidalLayout::half_split};
  const sextant::Tensor<double> table = sextant::sinusoidal<double>(options);
  std::cout << "half-split table " << table.shape().to_string() << ", sines | cosines:\n";
  for (const std::int64_t row : {0, 1, 2047}) {
    std::cout << "  position " << row << ":";
    for (const std::int64_t column : {0, 1, 255, 256, 257, 511}) {
      std::cout << "  [" << column << "] " << sextant::shortest(table(row, column));
    }
    std::cout << '\n';
  }

  std::cout << "\nPE(p + k) = M_k PE(p) for every p, to the last digits:\n";
  for (const std::int64_t offset : {1, 5, 100}) {
    // Two products and a sum of rounded numbers have an error below 4 units of 2^-52.
    std::cout << "  k = " << offset << ": "
              << yes_no(offset_error(options, table, offset) < 4 * 0x1p-52) << '\n';
  }

  // Two sentences; token 0 is padding.
  constexpr std::array<std::int64_t, 8> kTokens{5, 3, 9, 4, 7, 2, 0, 0};
  const sextant::View<const std::int64_t> batch(kTokens.data(), {2, 4});
  sextant::NumpyRandom random(1);
  const auto embedding = sextant::Embedding<double>::random(10, 512, random, 0);
  const sextant::Tensor<double> x = sextant::embed_with_positions<double>(embedding, batch, table);
  std::cout << "\npositional embedding layer: tokens " << batch.shape().to_string() << " -> "
            << x.shape().to_string() << '\n';
  bool only_position = true;
  for (std::int64_t i = 0; i < 512; ++i) only_position &= x(1, 3, i) == table(3, i);
  std::cout << "a padding token has no vector, only its position: " << yes_no(only_position);

  const sextant::Tensor<bool> mask = sextant::padding_mask(batch, 0);
  std::cout << "\npadding mask " << mask.shape().to_string() << ":";
  for (const bool takes_part : mask.span()) std::cout << ' ' << takes_part;

  const sextant::View<const double> heads = x.view().split(2, 8).transpose(1, 2);
  sextant::AttentionOptions<double> how;
  how.mask = sextant::BoolMask(mask.view());
  const auto weights = sextant::attention_weights<double>(heads, heads, how);
  const sextant::View<const double> map = weights.view().select(0, 1).select(0, 0);
  std::cout << "\nattention of the second sentence in head 0 of 8 sees its two words only:\n";
  print_rows(map, 3);
  std::cout << "rows sum to one: " << yes_no(rows_sum_to_one(map)) << '\n';
}
