// Returns the names of a scheme in figures.
#include "sextant/figures/named_scheme.h"

#include <algorithm>
#include <numeric>

#include "core/text/strings.h"
#include "sextant/core/error.h"

namespace sextant::figures {

std::string NamedScheme::label() const { return label_of({{scheme, parameters}}); }

std::string NamedScheme::name() const {
  return std::string(descriptor().title) + label().substr(scheme.size());
}

std::string NamedScheme::title() const { return title_of({{scheme, parameters}}); }

std::string title_of(const SchemeSpecs& schemes) {
  const bool none = std::ranges::all_of(schemes, [](const SchemeSpec& each) {
    return find_scheme(each.scheme).kind == SchemeKind::none;
  });
  if (none) return std::string(find_scheme("none").title);
  SchemeSpecs plain = schemes;
  for (SchemeSpec& each : plain) each.parameters.clear();
  return picture_name(plain) + " positions";
}

std::string picture_name(const SchemeSpecs& schemes) {
  return joined(schemes, " + ", [](const SchemeSpec& each) {
    return NamedScheme{each.scheme, each.parameters}.name();
  });
}

SchemeRequest NamedScheme::request(std::span<const std::int64_t> positions) const {
  SchemeRequest request{.positions = positions, .parameters = parameters, .weights = weights};
  return request;
}

std::vector<std::int64_t> positions_of(const NamedScheme& scheme, std::int64_t length,
                                       std::int64_t first) {
  constexpr std::int64_t kMaxPositions = std::int64_t{1} << 24;
  if (length > kMaxPositions) {
    throw Error("figure.length", "must be at most 2^24 for the scheme " + scheme.scheme + ", got " +
                                     std::to_string(length));
  }
  std::vector<std::int64_t> positions(static_cast<std::size_t>(length));
  std::iota(positions.begin(), positions.end(), first);
  return positions;
}

}  // namespace sextant::figures
