// The check that weights of schemes are finite.
#include "schemes/check_finite.h"

#include <cmath>
#include <string>

#include "sextant/core/error.h"

namespace sextant::schemes_detail {

void check_finite(std::string_view scheme, std::string_view name, View<const double> values) {
  const auto check = [&](double value) {
    if (std::isfinite(value)) return;
    throw Error(std::string(scheme) + "." + std::string(name), "must be finite");
  };
  if (values.rank() == 0) return check(values());
  for (std::int64_t n = 0; n < values.size(0); ++n) {
    if (values.rank() == 1) {
      check(values(n));
    } else {
      check_finite(scheme, name, values.select(0, n));
    }
  }
}

}  // namespace sextant::schemes_detail
