// Where the time of a training step goes: the operations of layers, each with a clock around it.
// The library knows nothing of it: the linker puts the clocks into this program (`--wrap`).
#pragma once

#include <array>
#include <cstddef>

namespace sextant::bench {

enum class Part {
  products,            // of linear maps, with their gradients
  attention,           // the operator, without its projections
  attention_backward,  //
  norms,               // forward and backward, as the next ones
  activations,
  sums,  // dropout and residual sums
  loss,  // softmax and cross entropy, without the product before
  count,
};
inline constexpr auto kParts = static_cast<std::size_t>(Part::count);
inline constexpr std::array<const char*, kParts> kPartNames = {
    "products", "attention", "attention backward", "norms", "activations", "sums", "loss"};

// Seconds since the program began.
std::array<double, kParts>& part_seconds() noexcept;

}  // namespace sextant::bench
