// Runs attention() over a whole prompt, then over the same tokens one by one with a KV cache.
#include <algorithm>
#include <iostream>

#include "sextant/attention.h"
#include "sextant/core.h"
#include "sextant/schemes.h"

namespace sx = sextant;

// Returns random numbers [batch, heads, length, head_dim] instead of the output of a layer.
sx::Tensor<float> random_heads(std::int64_t heads, std::int64_t length, sx::NumpyRandom& random) {
  sx::Tensor<float> numbers(sx::Shape{1, heads, length, 64});
  for (float& x : numbers.span()) x = static_cast<float>(random.normal());
  return numbers;
}

int main() {
  const std::int64_t length = 300;
  sx::NumpyRandom random(7);
  const auto q = random_heads(8, length, random);  // 8 query heads share ...
  const auto k = random_heads(2, length, random);  // ... 2 heads of keys and values
  const auto v = random_heads(2, length, random);
  const auto rotation = sx::rotary({.head_dim = 64}, length);  // rotates q and k inside the call

  sx::Tensor<float> whole(q.shape()), steps(q.shape());
  sx::attention(q, k, v, whole, {.causal = sx::Causal::top_left, .rotation = &rotation});

  sx::KvCache<float> cache({.batch = 1, .kv_heads = 2, .head_dim = 64, .v_dim = 64});
  for (std::int64_t i = 0; i < length; ++i) {
    cache.append(k.view().narrow(2, i, 1), v.view().narrow(2, i, 1));
    cache.attend(q.view().narrow(2, i, 1), steps.view().narrow(2, i, 1), {.rotation = &rotation});
  }
  std::cout << "the cache holds " << cache.length(0) << " tokens in " << cache.bytes() / 1024
            << " KiB; the same bits: "
            << (std::ranges::equal(whole.span(), steps.span()) ? "yes" : "no") << '\n';
}
