// Look-ups with positions on every compiled instruction set.
#include "kernels/layers/embed_rows.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>

#include "kernels/rotate/every_target.h"

namespace sextant::kernels {
namespace {

// Widths around two vectors and more, streamed where that is possible: the formula in float64,
// rounded once, to the bit.
TEST(EmbedRows, AreTheRoundedSumsToTheBit) {
  std::mt19937 random(1);
  std::uniform_real_distribution<float> number(-4, 4);
  const std::int64_t tokens[] = {4, 0, 4, 2, 1};
  const std::int64_t places[] = {0, 1, 2, 2, 0};
  on_every_target([&] {
    for (std::int64_t width = 0; width <= 64; ++width) {
      Tensor<float> table({5, width});
      Tensor<float> positions({3, width + 3});
      for (float& value : table.span()) value = number(random);
      for (float& value : positions.span()) value = number(random);
      for (const bool stream : {false, true}) {
        Tensor<float> out({6, width});
        embed_rows({table.data(), positions.data(), width + 3, width, 11.3137}, tokens, places, 5,
                   out.data(), stream);
        for (std::int64_t row = 0; row < 6; ++row) {
          for (std::int64_t i = 0; i < width; ++i) {
            const double sum = row == 5 ? 0
                                        : static_cast<double>(table(tokens[row], i)) * 11.3137 +
                                              static_cast<double>(positions(places[row], i));
            ASSERT_EQ(out(row, i), static_cast<float>(sum)) << width << ' ' << row << ' ' << i;
          }
        }
      }
    }
  });
}

}  // namespace
}  // namespace sextant::kernels
