// The list of all schemes, and the reading of their parameters. The list is explicit: a static
// library would drop files that only register themselves.
#include <array>
#include <utility>

#include "core/quoted_text.h"
#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/scheme.h"

namespace sextant {
namespace {

constexpr const Scheme* kSchemes[] = {
#define SEXTANT_SCHEME(name) &descriptors::name,
#include "schemes/schemes.def"
#undef SEXTANT_SCHEME
};

}  // namespace

std::string_view name_of(SchemeKind kind) noexcept {
  switch (kind) {
    case SchemeKind::none:
      return "none";
    case SchemeKind::added:
      return "added";
    case SchemeKind::rotated:
      return "rotated";
    case SchemeKind::distance_bias:
      return "distance_bias";
  }
  return "none";
}

std::span<const Scheme* const> schemes() noexcept { return kSchemes; }

const Scheme& find_scheme(std::string_view name) {
  std::string names;
  for (const Scheme* scheme : kSchemes) {
    if (scheme->name == name) return *scheme;
    names += (names.empty() ? "" : ", ") + std::string(scheme->name);
  }
  throw Error("scheme", "must be one of " + names + ", got " + quoted_text(name));
}

namespace descriptors {

Parameters::Parameters(const Scheme& scheme, const SchemeRequest& request) : scheme_(scheme.name) {
  std::string names;
  for (const SchemeParameter& parameter : scheme.parameters) {
    names += (names.empty() ? "" : ", ") + std::string(parameter.name);
    values_.emplace(parameter.name, parameter.default_text);
  }
  for (const auto& [name, text] : request.parameters) {
    const auto known = values_.find(name);
    if (known == values_.end()) {
      throw Error(scheme.name,
                  (names.empty() ? "has no parameters" : "has the parameters " + names) + ", got " +
                      quoted_text(name));
    }
    known->second = text;
  }
  for (const SchemeParameter& parameter : scheme.parameters) {
    if (!text(parameter.name).empty()) continue;
    throw Error(where(parameter.name), "must be given: " + std::string(parameter.meaning));
  }
}

const std::string& Parameters::text(std::string_view name) const {
  const auto known = values_.find(name);
  if (known == values_.end()) throw Error(where(name), "is no parameter of this scheme");
  return known->second;
}

double Parameters::number(std::string_view name) const {
  return parse_double(text(name), where(name));
}

std::int64_t Parameters::integer(std::string_view name) const {
  return parse_int64(text(name), where(name));
}

std::string Parameters::where(std::string_view name) const {
  return std::string(scheme_) + "." + std::string(name);
}

}  // namespace descriptors
}  // namespace sextant
