// Numbers out of the tables that schemes make.
#include "figures/tables.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include "sextant/core/error.h"

namespace sextant::figures {
namespace {

[[noreturn]] void refuse_head(std::int64_t head, std::int64_t heads) {
  throw Error("figure.heads",
              "must be at most " + std::to_string(heads) + ", got " + std::to_string(head + 1));
}

}  // namespace

std::vector<double> biases_by_distance(const DistanceBias& bias, std::int64_t head,
                                       std::int64_t first, std::int64_t last) {
  std::vector<double> biases(static_cast<std::size_t>(last - first + 1));
  if (bias.has_table()) {
    const std::int64_t begin = bias.origin + first, end = bias.origin + last + 1;
    if (begin < 0 || end > bias.values.size(1)) {
      throw Error("figure.length", "must have a bias for each distance " + std::to_string(first) +
                                       " .. " + std::to_string(last) + "; the table has " +
                                       std::to_string(-bias.origin) + " .. " +
                                       std::to_string(bias.values.size(1) - 1 - bias.origin));
    }
    const std::int64_t rows = bias.values.size(0);
    if (rows != 1 && head >= rows) refuse_head(head, rows);
    const float* row = &bias.values(rows == 1 ? 0 : head, 0);
    std::copy(row + begin, row + end, biases.begin());
  }
  if (bias.slopes.empty()) return biases;
  if (head >= std::ssize(bias.slopes)) refuse_head(head, std::ssize(bias.slopes));
  for (std::int64_t distance = first; distance <= last; ++distance) {
    biases[static_cast<std::size_t>(distance - first)] -=
        bias.slopes[static_cast<std::size_t>(head)] * static_cast<double>(std::abs(distance));
  }
  return biases;
}

void refuse_scheme(std::string_view scheme, const AppliedPositions<double>& made,
                   const std::string& what) {
  throw Error("figure.scheme",
              "must be a scheme that has a " + what + ", got '" + std::string(scheme) + "', " +
                  (made.content ? "whose scores depend on q and k as well" : "which adds nothing"));
}

}  // namespace sextant::figures
