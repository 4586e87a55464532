// Implements what biases by distance share: the length of a table, and its checks.
#include "schemes/distance/distances.h"

#include <string>

#include "schemes/descriptors.h"
#include "schemes/ids/grid.h"
#include "sextant/core/error.h"

namespace sextant::schemes_detail {
namespace {

constexpr std::int64_t kMaxLength = std::int64_t{1} << 28;
constexpr std::int64_t kMaxNumbers = std::int64_t{1} << 31;

std::string where(std::string_view scheme, std::string_view name) {
  return std::string(scheme) + "." + std::string(name);
}

}  // namespace

std::int64_t distances_of(std::string_view scheme, const SchemeRequest& request) {
  check_one_id(request, scheme);
  if (request.positions.empty()) return 1;
  const auto [min, max] = std::minmax_element(request.positions.begin(), request.positions.end());
  // In unsigned arithmetic, because ids may be 2^64 - 1 apart.
  const std::uint64_t span = static_cast<std::uint64_t>(*max) - static_cast<std::uint64_t>(*min);
  if (span >= static_cast<std::uint64_t>(kMaxLength)) {
    throw Error(where(scheme, "positions"), "must lie less than 2^28 apart, got " +
                                                std::to_string(*min) + " and " +
                                                std::to_string(*max));
  }
  return static_cast<std::int64_t>(span) + 1;
}

void check_distances(std::string_view scheme, std::int64_t heads, std::int64_t length) {
  check_range(kHeads, where(scheme, "heads"), heads);
  check_range(IntegerRange{1, kMaxLength}, where(scheme, "length"), length);
  if (heads * (2 * length - 1) > kMaxNumbers) {
    throw Error(where(scheme, "length"), "must leave heads x (2 length - 1) at most 2^31, got " +
                                             std::to_string(length) + " with " +
                                             std::to_string(heads) + " heads");
  }
}

std::int64_t length_of_gradient(std::string_view scheme, std::int64_t heads,
                                View<const double> gradient) {
  if (gradient.rank() != 2 || gradient.size(0) != heads || gradient.size(1) % 2 != 1) {
    throw Error(where(scheme, "gradient"), "must be [" + std::to_string(heads) +
                                               ", 2 length - 1], as the bias, got " +
                                               gradient.shape().to_string());
  }
  return (gradient.size(1) + 1) / 2;
}

}  // namespace sextant::schemes_detail
