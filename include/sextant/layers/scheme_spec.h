// Names a scheme and its parameters: an entry of a model's list.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// Constructed from a name, or from a name and parameters: {"rotary", {{"base", "500000"}}}.
struct SchemeSpec {
  std::string scheme = "none";                    // any name that schemes() lists
  std::map<std::string, std::string> parameters;  // absent parameters have their defaults

  SchemeSpec() = default;
  // Not a SchemeSpec, so that copies use the copy constructor.
  template <std::convertible_to<std::string> Name>
  SchemeSpec(Name&& name,  // NOLINT(bugprone-forwarding-reference-overload)
             std::map<std::string, std::string> given = {})
      : scheme(std::forward<Name>(name)), parameters(std::move(given)) {}

  bool operator==(const SchemeSpec&) const = default;
};

// The schemes of a layer: {"rotary", "temperature"}. Rows that are added to embeddings add up, and
// so do biases by distance. There is at most one rotation (besides factors of whole heads,
// temperature), one bias by query and key, and one content term. An empty list: no positions.
using SchemeSpecs = std::vector<SchemeSpec>;

std::string names_of(const SchemeSpecs& schemes);  // returns "rotary+temperature", "none"
std::string label_of(const SchemeSpecs& schemes);  // returns "rotary base=500000+temperature"

}  // namespace sextant
