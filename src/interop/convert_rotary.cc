// Rows of projections from one rotary layout to the other (permutation: RoFormer's pairs 2k, 2k + 1
// against GPT-NeoX's k, k + n/2).
#include "sextant/interop/convert_rotary.h"

#include <cstring>
#include <string>
#include <utility>

#include "sextant/core/error.h"

namespace sextant {
namespace {

// With its rotary_dim written out.
RotaryRows checked(RotaryRows rows) {
  constexpr std::int64_t kMost = std::int64_t{1} << 30;
  if (rows.head_dim < 2 || rows.head_dim > kMost) {
    throw Error("convert_rotary.head_dim",
                "must be in 2 .. 2^30, got " + std::to_string(rows.head_dim));
  }
  if (rows.rotary_dim == 0) rows.rotary_dim = rows.head_dim;
  if (rows.rotary_dim < 2 || rows.rotary_dim > rows.head_dim || rows.rotary_dim % 2 != 0) {
    throw Error("convert_rotary.rotary_dim", "must be even and at most head_dim, " +
                                                 std::to_string(rows.head_dim) + ", got " +
                                                 std::to_string(rows.rotary_dim));
  }
  return rows;
}

void permute(Array& weights, const RotaryRows& rows, RotaryLayout to, std::int64_t begin,
             std::int64_t end) {
  const std::vector<std::int64_t> from = rotary_permutation(rows, to);
  if (weights.shape.rank() < 1) {
    throw Error("convert_rotary.weights", "must have rows, got a single number");
  }
  const std::int64_t all = weights.shape[0];
  if (end == -1) end = all;
  if (begin < 0 || begin > end || end > all) {
    throw Error("convert_rotary.rows", "must be within 0 .. " + std::to_string(all) + ", got " +
                                           std::to_string(begin) + " .. " + std::to_string(end));
  }
  if ((end - begin) % rows.head_dim != 0) {
    throw Error("convert_rotary.weights", "must have a multiple of head_dim, " +
                                              std::to_string(rows.head_dim) + ", as rows, got " +
                                              std::to_string(end - begin));
  }
  const auto size = static_cast<std::int64_t>(dtype_size(weights.dtype));
  if (size == 0 || weights.bytes.count() % size != 0 ||
      weights.bytes.count() / size != weights.count()) {
    throw Error("convert_rotary.weights", "must hold the bytes of its shape, " +
                                              weights.shape.to_string() + ", got " +
                                              std::to_string(weights.bytes.count()));
  }
  if (weights.count() == 0 || begin == end) return;
  const auto row = static_cast<std::size_t>(weights.bytes.count() / all);
  std::vector<std::byte> head(row * static_cast<std::size_t>(rows.head_dim));
  for (; begin < end; begin += rows.head_dim) {
    std::byte* at = weights.bytes.data() + static_cast<std::size_t>(begin) * row;
    std::memcpy(head.data(), at, head.size());
    for (const std::int64_t channel : from) {
      std::memcpy(at, head.data() + static_cast<std::size_t>(channel) * row, row);
      at += row;
    }
  }
}

}  // namespace

std::vector<std::int64_t> rotary_permutation(const RotaryRows& given, RotaryLayout to) {
  const RotaryRows rows = checked(given);
  const std::int64_t half = rows.rotary_dim / 2;
  const std::int64_t first = rows.span == RotarySpan::last ? rows.head_dim - rows.rotary_dim : 0;
  std::vector<std::int64_t> from(static_cast<std::size_t>(rows.head_dim));
  for (std::int64_t c = 0; c < rows.head_dim; ++c) {
    const std::int64_t r = c - first;
    std::int64_t source = r;
    if (r >= 0 && r < rows.rotary_dim) {
      source = to == RotaryLayout::half_split ? (r < half ? 2 * r : 2 * (r - half) + 1)
                                              : r / 2 + (r % 2) * half;
    }
    from[static_cast<std::size_t>(c)] = first + source;
  }
  return from;
}

void to_half_split(Array& weights, const RotaryRows& rows, std::int64_t begin, std::int64_t end) {
  permute(weights, rows, RotaryLayout::half_split, begin, end);
}

void to_interleaved(Array& weights, const RotaryRows& rows, std::int64_t begin, std::int64_t end) {
  permute(weights, rows, RotaryLayout::interleaved, begin, end);
}

}  // namespace sextant
