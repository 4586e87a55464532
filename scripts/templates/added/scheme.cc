// Binary positions: the bits of a position, side by side.
#include "sextant/schemes/added/new_scheme.h"

#include <algorithm>
#include <string>

#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kFields<NewScheme> =
    std::tuple{field(&NewScheme::width, "width", IntegerRange{1, 1 << 30}, "columns").of_request(),
               field(&NewScheme::scale, "scale", kFinite, "of every bit")};

Tensor<double> new_scheme(const NewScheme& options, std::span<const std::int64_t> positions) {
  check_fields("new_scheme", options);
  const auto rows = static_cast<std::int64_t>(positions.size());
  if (rows > (std::int64_t{1} << 60) / options.width) {
    throw Error("new_scheme.positions", "times width must be below 2^60, got " +
                                            std::to_string(rows) + " x " +
                                            std::to_string(options.width));
  }
  Tensor<double> table = Tensor<double>::uninitialized({rows, options.width});
  double* to = table.data();
  for (const std::int64_t position : positions) {
    for (std::int64_t column = 0; column < options.width; ++column) {
      const std::int64_t bit = position >> std::min<std::int64_t>(column, 63) & 1;
      *to++ = options.scale * static_cast<double>(bit);
    }
  }
  return table;
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, NewScheme> kDefinition = {
    .name = "new_scheme",
    .title = "title",
    .kind = SchemeKind::added,
    .idea = "idea",
    .paper = "paper",
    .make = [](const auto& of) -> SchemeTable { return new_scheme(of, of.ids()); },
};

}  // namespace

constinit const Scheme kNewScheme = scheme_of<kNewScheme, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
