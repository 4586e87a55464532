// A positional scheme and its parameters: an entry of the list that a model has.
#pragma once

#include <concepts>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant {

// Made of a name alone, or of a name and parameters: {"rotary", {{"base", "500000"}}}.
struct SchemeSpec {
  std::string scheme = "none";                    // any name that schemes() lists
  std::map<std::string, std::string> parameters;  // what is absent has its default

  SchemeSpec() = default;
  template <std::convertible_to<std::string> Name>  // no SchemeSpec is, so copies are copied
  SchemeSpec(Name&& name,  // NOLINT(bugprone-forwarding-reference-overload)
             std::map<std::string, std::string> given = {})
      : scheme(std::forward<Name>(name)), parameters(std::move(given)) {}

  bool operator==(const SchemeSpec&) const = default;
};

// What a layer has together: {"rotary", "temperature"}. Rows that are added to embeddings add up,
// and biases by distance; there is at most one rotation, beside factors of whole heads
// (temperature), one bias by query and key, and one content term. An empty list: no positions.
using SchemeSpecs = std::vector<SchemeSpec>;

std::string names_of(const SchemeSpecs& schemes);  // "rotary+temperature", "none"
std::string label_of(const SchemeSpecs& schemes);  // "rotary base=500000+temperature"

}  // namespace sextant
