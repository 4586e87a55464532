// Multi-section rotary (M-RoPE; Qwen2-VL, 2409.12191): each token has several ids, and each pair of
// channels turns by one of them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "sextant/schemes/rotated/rotary.h"

namespace sextant {

enum class SectionOrder {
  sectioned,    // the first pairs are of axis 0, the next of axis 1, ...    Qwen2-VL, Qwen2.5-VL
  interleaved,  // pairs a, a + n, a + 2n, ... below n * section of axis a > 0; others of axis 0
                // (n axes)                                                  Qwen3-VL, Qwen3.5
};

struct RotarySections {
  std::int64_t head_dim = 0;  // these seven as in Rotary
  std::int64_t rotary_dim = 0;
  double base = 10000;
  RotaryLayout layout = RotaryLayout::half_split;
  RotarySpan span = RotarySpan::first;
  Precision precision = Precision::exact;
  int threads = 0;
  // How many pairs turn by each id, 2 .. 8 axes, sum rotary_dim / 2; empty: as equal as possible,
  // the first ones taking one more, for as many axes as the ids have (3 when they have one).
  std::vector<std::int64_t> sections{};
  SectionOrder order = SectionOrder::sectioned;
};

// Angle k is id of the pair's axis * base^(-2k / rotary_dim): one ladder over all pairs. ids:
// [rows, axes], for Qwen time, row and column. Tables and errors as rotary(); `interleaved` needs
// sections that fit, that is a + n (section - 1) < pairs for the axes a > 0.
template <Floating T = float>
RotationTable<T> rotary_sections(const RotarySections& options, View<const std::int64_t> ids);
// Text: the same id on every axis, which is plain rotary.
template <Floating T = float>
RotationTable<T> rotary_sections(const RotarySections& options, std::int64_t length);
template <Floating T = float>
RotationTable<T> rotary_sections(const RotarySections& options,
                                 std::span<const std::int64_t> positions);

RotationFrequencies rotation_frequencies(const RotarySections& options);
// The axis of each pair, for ids of that many axes.
std::vector<std::int32_t> rotary_section_axes(const RotarySections& options, std::int64_t axes = 3);

std::string_view name_of(SectionOrder) noexcept;

}  // namespace sextant
