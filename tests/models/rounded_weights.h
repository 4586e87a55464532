// Compares a model whose matrices have 16 bits with a float32 one.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace sextant {

// Rounds the numbers of `wide` that `narrow` holds in 16 bits, and compares all. Returns how many
// tensors have 16 bits.
template <class Model>
int round_like(const Model& narrow, Model& wide) {
  const auto from = narrow.parameters();
  const auto to = wide.parameters();
  int rounded = 0;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i].tensor.with_tensor([&](const auto& held) {
      using Held = std::remove_cvref_t<decltype(held.data()[0])>;
      rounded += sizeof(Held) == 2 ? 1 : 0;
      for (std::int64_t n = 0; n < held.count(); ++n) {
        float& x = to[i].tensor->data()[n];
        if constexpr (sizeof(Held) == 2) x = static_cast<float>(Held(x));
        ASSERT_EQ(static_cast<float>(held.data()[n]), x) << from[i].name << ' ' << n;
      }
    });
  }
  return rounded;
}

}  // namespace sextant
