// Runs residual attention blocks (cross, global and causal) over a batch of sentences with padding,
// as in notes on "Attention is all you need".
#include <array>
#include <iostream>
#include <string>

#include "print.h"
#include "sextant/sextant.h"

namespace {

constexpr std::int64_t kWidth = 64, kHeads = 4;

// Prints the weights of the first head for the second sentence, whose last token is padding.
void print_block(const std::string& name, const sextant::AttentionBlock<double>::Result& result) {
  const sextant::View<const double> map = result.weights.view().select(0, 1).select(0, 0);
  std::cout << name << ": weights " << result.weights.shape().to_string() << " -> "
            << result.output.shape().to_string()
            << ", rows sum to one: " << yes_no(rows_sum_to_one(map)) << '\n';
  print_rows(map, 3);
}

}  // namespace

int main() {
  // Two sentences; token 0 is padding.
  constexpr std::array<std::int64_t, 8> kTokens{5, 3, 9, 4, 7, 2, 8, 0};
  const sextant::View<const std::int64_t> batch(kTokens.data(), {2, 4});
  sextant::NumpyRandom random(1);
  const auto embedding = sextant::Embedding<double>::random(10, kWidth, random, 0);
  const auto table = sextant::sinusoidal<double>(
      {.length = 4, .width = kWidth, .layout = sextant::SinusoidalLayout::half_split});
  const sextant::Tensor<double> x = sextant::embed_with_positions<double>(embedding, batch, table);
  const sextant::Tensor<bool> mask = sextant::padding_mask(batch, 0);

  using Kind = sextant::AttentionBlockKind;
  const sextant::AttentionBlock<double> global(Kind::global, kWidth, kHeads, random),
      causal(Kind::causal, kWidth, kHeads, random), cross(Kind::cross, kWidth, kHeads, random);

  // An encoder sees all words except padding. A decoder sees its own past, then the output of the
  // encoder.
  const auto encoded = global(x, {}, mask);
  print_block("global self-attention", encoded);
  const auto decoded = causal(x, {}, mask);
  print_block("\ncausal self-attention", decoded);
  print_block("\ncross attention", cross(decoded.output, encoded.output, mask));
}
