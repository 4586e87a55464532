// Calls the operator once with rotary positions.
#include <iostream>

#include "sextant/attention.h"
#include "sextant/core.h"
#include "sextant/schemes.h"

int main() {
  sextant::Tensor<float> q({1, 8, 512, 64}), out(q.shape());  // [batch, heads, length, head_dim]
  sextant::NumpyRandom random(7);
  for (float& x : q.span()) x = static_cast<float>(random.normal());
  const auto rotation = sextant::rotary({.head_dim = 64}, 512);
  sextant::attention(q, q, q, out, {.causal = sextant::Causal::top_left, .rotation = &rotation});
  std::cout << out(0, 0, 0, 0) - q(0, 0, 0, 0) << '\n';  // the first token sees only itself
}
