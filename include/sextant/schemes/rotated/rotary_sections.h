// Rotates in sections (M-RoPE; Qwen2-VL, 2409.12191): each token has several ids, and each pair of
// channels is rotated by one of them.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace sextant {

enum class SectionOrder {
  sectioned,    // the first pairs belong to axis 0, the next to axis 1, ...    Qwen2-VL, Qwen2.5-VL
  interleaved,  // pairs a, a + n, a + 2n, ... below n * section of axis a > 0; others of axis 0
                // (n axes)                                                  Qwen3-VL, Qwen3.5
};

// Angle k is the id of the pair's axis times the frequency of the pair: one ladder over all pairs.
// Ids are [rows, axes], for Qwen time, row and column; a text with one id per row has it on every
// axis, which is plain rotary.
struct SectionAxes {
  static constexpr std::string_view name = "rotary_sections";  // name of the scheme
  // The number of pairs for each id, 2 .. 8 axes, sum rotary_dim / 2; empty: as equal as possible,
  // the first ones one larger, for as many axes as the ids have (3 if they have one). `interleaved`
  // needs sections that fit: a + n (section - 1) < pairs for the axes a > 0.
  std::vector<std::int64_t> sections{};
  SectionOrder order = SectionOrder::sectioned;
};

std::string_view name_of(SectionOrder) noexcept;

}  // namespace sextant
