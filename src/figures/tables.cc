// Numbers out of the tables that schemes make.
#include "figures/tables.h"

#include "sextant/core/error.h"

namespace sextant::figures {

std::vector<double> biases_by_distance(const DistanceBias& bias, std::string_view scheme,
                                       std::int64_t head, std::int64_t first, std::int64_t last) {
  const std::int64_t begin = bias.origin + first, end = bias.origin + last + 1;
  if (begin < 0 || end > bias.values.size(1)) {
    throw Error("figure.scheme", std::string(scheme) + " must have a bias for each of " +
                                     std::to_string(end - begin) + " distances, got " +
                                     std::to_string(bias.values.size(1)));
  }
  const float* row = &bias.values(bias.values.size(0) == 1 ? 0 : head, 0);
  return {row + begin, row + end};
}

void refuse_scheme(std::string_view scheme, const AppliedPositions<double>& made,
                   const std::string& what) {
  throw Error("figure.scheme",
              "must be a scheme that has a " + what + ", got '" + std::string(scheme) + "', " +
                  (made.content ? "whose scores depend on q and k as well" : "which adds nothing"));
}

}  // namespace sextant::figures
