// Position ids of one axis.
#include "sextant/schemes/ids/positions.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <unordered_set>

#include "schemes/ids/position_checks.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant {
namespace {

// A whole number of 0 .. max, all equally likely: draws beyond the last whole multiple of the
// range are repeated.
std::int64_t below_or_at(NumpyRandom& random, std::int64_t max) {
  const std::uint64_t range = static_cast<std::uint64_t>(max) + 1;
  const std::uint64_t limit = ~std::uint64_t{0} / range * range;
  while (true) {
    const std::uint64_t high = random.bits();
    const std::uint64_t drawn = high << 32 | random.bits();
    if (drawn < limit) return static_cast<std::int64_t>(drawn % range);
  }
}

// Counts the tokens of each row: `first` for the first one.
Tensor<std::int64_t> counted(std::string_view where, View<const bool> mask, std::int64_t first,
                             std::int64_t pad_id) {
  if (mask.rank() != 2) {
    throw Error(where, "must be [batch, length], got " + mask.shape().to_string());
  }
  Tensor<std::int64_t> ids = Tensor<std::int64_t>::uninitialized(mask.shape());
  for (std::int64_t row = 0; row < mask.size(0); ++row) {
    std::int64_t next = first;
    for (std::int64_t i = 0; i < mask.size(1); ++i) ids(row, i) = mask(row, i) ? next++ : pad_id;
  }
  return ids;
}

}  // namespace

std::vector<std::int64_t> position_range(std::int64_t first, std::int64_t length) {
  check_count("position_range.length", length);
  check_id("position_range.first", first);
  check_id("position_range.length", first + std::max(length, std::int64_t{1}) - 1);
  std::vector<std::int64_t> ids(static_cast<std::size_t>(length));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Tensor<std::int64_t> cached_positions(std::span<const std::int64_t> past, std::int64_t length) {
  check_count("cached_positions.length", length);
  const auto batch = static_cast<std::int64_t>(past.size());
  check_count("cached_positions.past", length == 0 ? 0 : checked_product(batch, length));
  Tensor<std::int64_t> ids = Tensor<std::int64_t>::uninitialized({batch, length});
  for (std::int64_t row = 0; row < batch; ++row) {
    const std::int64_t first = past[static_cast<std::size_t>(row)];
    if (first < 0 || first > kMaxPosition - length) {
      throw Error("cached_positions.past",
                  "must be 0 or more and keep ids at or below 2^53, got " + std::to_string(first));
    }
    for (std::int64_t i = 0; i < length; ++i) ids(row, i) = first + i;
  }
  return ids;
}

Tensor<std::int64_t> padded_positions(View<const bool> mask, std::int64_t pad_id) {
  if (pad_id < 0 || pad_id > kMaxPosition) {
    throw Error("padded_positions.pad_id", "must be 0 .. 2^53, got " + std::to_string(pad_id));
  }
  return counted("padded_positions.mask", mask, 0, pad_id);
}

Tensor<std::int64_t> fairseq_positions(View<const bool> mask, std::int64_t padding_idx) {
  if (padding_idx < 0 || padding_idx > kMaxIds) {
    throw Error("fairseq_positions.padding_idx",
                "must be 0 .. 2^30, got " + std::to_string(padding_idx));
  }
  return counted("fairseq_positions.mask", mask, padding_idx + 1, padding_idx);
}

std::vector<std::int64_t> packed_positions(std::span<const std::int64_t> boundaries) {
  if (boundaries.empty() || boundaries.front() != 0) {
    throw Error("packed_positions.boundaries", "must begin with 0");
  }
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] < boundaries[i - 1]) {
      throw Error("packed_positions.boundaries", "must never fall, got " +
                                                     std::to_string(boundaries[i]) + " after " +
                                                     std::to_string(boundaries[i - 1]));
    }
  }
  check_count("packed_positions.boundaries", boundaries.back());
  std::vector<std::int64_t> ids(static_cast<std::size_t>(boundaries.back()));
  for (std::size_t i = 1; i < boundaries.size(); ++i) {
    std::iota(ids.begin() + boundaries[i - 1], ids.begin() + boundaries[i], std::int64_t{0});
  }
  return ids;
}

std::vector<std::int64_t> random_positions(std::int64_t length, std::int64_t max_length,
                                           std::uint32_t seed) {
  check_count("random_positions.length", length);
  if (max_length < length || max_length > kMaxPosition) {
    throw Error("random_positions.max_length",
                "must be at least the length, " + std::to_string(length) +
                    ", and at most 2^53, got " + std::to_string(max_length));
  }
  // Floyd's sampling (Bentley and Floyd 1987): one draw per id, for any `max_length`.
  NumpyRandom random(seed);
  std::unordered_set<std::int64_t> chosen;
  for (std::int64_t last = max_length - length; last < max_length; ++last) {
    if (!chosen.insert(below_or_at(random, last)).second) chosen.insert(last);
  }
  std::vector<std::int64_t> ids(chosen.begin(), chosen.end());
  std::sort(ids.begin(), ids.end());
  return ids;
}

std::vector<std::int64_t> shifted_positions(std::int64_t length, std::int64_t max_shift,
                                            std::uint32_t seed) {
  check_count("shifted_positions.length", length);
  if (max_shift < 0 || max_shift > kMaxPosition - length) {
    throw Error(
        "shifted_positions.max_shift",
        "must be 0 or more and keep ids at or below 2^53, got " + std::to_string(max_shift));
  }
  NumpyRandom random(seed);
  return position_range(below_or_at(random, max_shift), length);
}

bool rotates(std::int64_t layer, std::int64_t interval) {
  if (layer < 0) throw Error("rotates.layer", "must be 0 or more, got " + std::to_string(layer));
  if (interval < 1) {
    throw Error("rotates.interval", "must be 1 or more, got " + std::to_string(interval));
  }
  return layer % interval != interval - 1;
}

}  // namespace sextant
