// The list of all schemes, and the reading of their parameters. The list is explicit: a static
// library would drop files that only register themselves.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "core/options/enum_names.h"
#include "core/options/nearest.h"
#include "core/text/strings.h"
#include "schemes/descriptors.h"
#include "schemes/weight_checks.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"
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
  return enum_name(kind, {"none", "added", "rotated", "distance_bias", "indexed_bias", "content"});
}

std::span<const Scheme* const> schemes() noexcept { return kSchemes; }

const Scheme& find_scheme(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Scheme* scheme : kSchemes) {
    if (scheme->name == name) return *scheme;
    names.push_back(scheme->name);
  }
  std::string hint = suggested(name, names);
  if (hint.empty()) {
    hint = "; there are " + std::to_string(names.size()) +
           ", such as alibi, none, rotary, sinusoidal and t5";
  }
  throw Error("scheme", "must be the name of a scheme, got " + printable_quote(name) + hint);
}

namespace descriptors {

Parameters::Parameters(const Scheme& scheme, const SchemeRequest& request)
    : scheme_(scheme), request_(request) {
  const std::string names = joined(scheme.parameters(), ", ", &Option::name);
  for (const Option& parameter : scheme.parameters()) {
    values_.emplace(parameter.name, parameter.default_text);
  }
  for (const auto& [name, text] : request.parameters) {
    const auto known = values_.find(name);
    if (known == values_.end()) {
      throw Error(scheme.name,
                  (names.empty() ? "has no parameters" : "has the parameters " + names) + ", got " +
                      printable_quote(name));
    }
    known->second = text;
  }
  for (const Option& parameter : scheme.parameters()) {
    if (!text(parameter.name).empty()) continue;
    throw Error(where(parameter.name), "must be given: " + std::string(parameter.meaning));
  }
}

const std::string& Parameters::text(std::string_view name) const {
  const auto known = values_.find(name);
  if (known == values_.end()) throw Error(where(name), "is not a parameter of this scheme");
  return known->second;
}

const SchemeWeights& Parameters::weights() const {
  if (request_.weights != nullptr) {
    const std::string names = joined(scheme_.weights, ", ", &SchemeWeight::name);
    for (const SchemeWeight& weight : scheme_.weights) {
      if (request_.weights->contains(std::string(weight.name))) continue;
      throw Error(where(weight.name),
                  "must be among the weights, " + names + ": " + std::string(weight.meaning));
    }
    for (const auto& [name, values] : *request_.weights) {
      if (std::any_of(scheme_.weights.begin(), scheme_.weights.end(),
                      [&name = name](const SchemeWeight& weight) { return weight.name == name; })) {
        continue;
      }
      throw Error(scheme_.name, (names.empty() ? "has no weights" : "has the weights " + names) +
                                    ", got " + printable_quote(name));
    }
    return *request_.weights;
  }
  if (initial_.empty() && scheme_.initial_weights != nullptr) {
    initial_ = scheme_.initial_weights(request_);
  }
  return initial_;
}

const Tensor<double>& Parameters::weight(std::string_view name) const {
  if (sizes_.empty() && scheme_.weight_sizes != nullptr) sizes_ = scheme_.weight_sizes(request_);
  const auto known = weights().find(std::string(name));
  const auto wanted_sizes = sizes_.find(name);
  if (known == weights().end() || wanted_sizes == sizes_.end()) {
    throw Error(where(name), "is not a weight of this scheme");
  }
  const std::vector<std::int64_t>& sizes = wanted_sizes->second;
  const Shape& found = known->second.shape();
  const auto fits = [](std::int64_t size, std::int64_t wanted) {
    return wanted == kAnySize || size == wanted;
  };
  if (!std::equal(found.begin(), found.end(), sizes.begin(), sizes.end(), fits)) {
    std::string wanted;
    for (const std::int64_t size : sizes) {
      wanted += (wanted.empty() ? "[" : ", ") + (size == kAnySize ? "any" : std::to_string(size));
    }
    throw Error(where(name), "must be of shape " + wanted + "], got " + found.to_string());
  }
  schemes_detail::check_finite(scheme_.name, name, std::as_const(known->second).view());
  return known->second;
}

std::int64_t Parameters::size(std::string_view name, std::int64_t otherwise) const noexcept {
  if (name == "width") return request_.width;
  if (name == "heads") return request_.heads;
  if (name == "head_dim") return request_.head_dim;
  return otherwise;
}

std::string Parameters::where(std::string_view name) const {
  return std::string(scheme_.name) + "." + std::string(name);
}

}  // namespace descriptors
}  // namespace sextant
