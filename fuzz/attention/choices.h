// The fuzzer's bytes as choices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "sextant/core/random.h"

namespace sextant::fuzz {

// Each question takes a byte or two. When there are none left, answers are random numbers that
// depend on all bytes: a call has so many options that short inputs would leave most of them off.
class Choices {
 public:
  explicit Choices(std::span<const std::uint8_t> bytes) : bytes_(bytes), rest_(hash_of(bytes)) {}

  // A whole number in [least, most].
  std::int64_t integer(std::int64_t least, std::int64_t most) {
    const std::int64_t count = most - least + 1;
    std::int64_t number = next();
    if (count > 256) number = number * 256 + next();
    return least + number % count;
  }
  bool one_in(std::int64_t n) { return integer(0, n - 1) == n - 1; }
  // Many numbers come from few bytes.
  NumpyRandom random() {
    const std::int64_t high = next();
    return NumpyRandom(static_cast<std::uint32_t>(high * 256 + next()));
  }

 private:
  // FNV-1a.
  static std::uint32_t hash_of(std::span<const std::uint8_t> bytes) {
    std::uint32_t hash = 2166136261u;
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 16777619u;
    return hash;
  }

  std::int64_t next() {
    if (bytes_.empty()) return rest_.bits() % 256;
    const std::uint8_t first = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return first;
  }

  std::span<const std::uint8_t> bytes_;
  NumpyRandom rest_;
};

}  // namespace sextant::fuzz
