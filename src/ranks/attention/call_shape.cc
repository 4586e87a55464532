// Pieces, visible keys and pairs of a call, by the operator's own rules.
#include "ranks/attention/call_shape.h"

#include <algorithm>
#include <array>
#include <limits>
#include <span>
#include <string>

#include "core/arrays/each_dtype.h"
#include "core/options/enum_names.h"

namespace sextant::ranks {
namespace {

// Sum over i in [begin, end) of i + shift, limited to low .. high.
double sum_of_limited(std::int64_t begin, std::int64_t end, std::int64_t shift, std::int64_t low,
                      std::int64_t high) {
  const std::int64_t a = std::clamp(low - shift, begin, end), b = std::clamp(high - shift, a, end);
  const auto d = [](std::int64_t x) { return static_cast<double>(x); };
  return d(a - begin) * d(low) + (d(a + shift) + d(b - 1 + shift)) * d(b - a) / 2 +
         d(end - b) * d(high);
}

template <class T>
std::vector<Piece> pieces_of(const ShardLayout& layout, int rank,
                             std::span<const std::int64_t> borders) {
  std::vector<Piece> pieces;
  std::int64_t row = 0;
  for (const ShardRange& range : layout.ranges(rank)) {
    const std::int64_t end = range.begin + range.count;
    if (borders.empty()) {
      if (range.count > 0) pieces.push_back({0, range.begin, end, row});
    } else {
      auto next = std::upper_bound(borders.begin(), borders.end(), range.begin);
      for (std::int64_t at = range.begin; at < end; ++next) {
        const std::int64_t stop = std::min(end, *next);
        if (stop > at)
          pieces.push_back({next - borders.begin() - 1, at, stop, row + at - range.begin});
        at = stop;
      }
    }
    row += range.count;
  }
  return pieces;
}

}  // namespace

template <class T>
std::vector<Piece> CallShape<T>::query_pieces(int rank) const {
  return pieces_of<T>(q_layout, rank, all.segments);
}

template <class T>
std::vector<Piece> CallShape<T>::key_pieces(int rank) const {
  return pieces_of<T>(k_layout, rank, all.key_segments);
}

template <class T>
Piece CallShape<T>::seen(const Piece& queries) const {
  Piece keys{queries.segment, std::numeric_limits<std::int64_t>::max(), 0};
  for (std::int64_t b = 0; b < all.batch && queries.size() > 0; ++b) {
    const Sequence at = sequence(b, queries.segment);
    const std::int64_t first = all.visible(at, queries.begin - at.q_begin).begin;
    const std::int64_t last = all.visible(at, queries.end - 1 - at.q_begin).end;
    if (first >= last) continue;
    keys.begin = std::min(keys.begin, at.k_begin + first);
    keys.end = std::max(keys.end, at.k_begin + last);
  }
  if (keys.begin >= keys.end) keys.begin = keys.end = 0;
  return keys;
}

template <class T>
double CallShape<T>::pairs(const Piece& queries, const Piece& keys) const {
  double sum = 0;
  for (std::int64_t b = 0; b < all.batch; ++b) {
    const Sequence at = sequence(b, queries.segment);
    const std::int64_t low = keys.begin - at.k_begin;
    const std::int64_t high = std::max(low, std::min(keys.end - at.k_begin, at.k_len));
    const std::int64_t begin = queries.begin - at.q_begin, end = queries.end - at.q_begin;
    const std::int64_t right = all.causal ? std::min<std::int64_t>(all.right, 0) : all.right;
    sum += sum_of_limited(begin, end, at.offset + right + 1, low, high) -
           sum_of_limited(begin, end, at.offset - all.left, low, high);
  }
  return sum;
}

template <class T>
View<const T> shape_only(const Shape& shape) {
  static constexpr std::array<std::byte, 8> kElement{};
  constexpr std::array<std::int64_t, kMaxRank> kStrides{};
  return View<const T>(reinterpret_cast<const T*>(kElement.data()), shape,
                       std::span(kStrides.data(), static_cast<std::size_t>(shape.rank())));
}

void check_options(const char* function, const Options& ranks) {
  const std::string scope = std::string(function) + ".";
  check_named(scope + "algorithm", ranks.algorithm);
  check_named(scope + "sharding", ranks.sharding);
  check_named(scope + "wire_type", ranks.wire_type);
  if (ranks.slice_bytes < 0) {
    throw Error(scope + "slice_bytes",
                "must be 0 or more, got " + std::to_string(ranks.slice_bytes));
  }
}

#define SEXTANT_INSTANTIATE(T)  \
  template struct CallShape<T>; \
  template View<const T> shape_only<T>(const Shape&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE
template View<const bool> shape_only<bool>(const Shape&);

}  // namespace sextant::ranks
