// Declarations of the schemes' descriptors, and a reader of parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "core/options/fields.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

inline constexpr IntegerRange kHeads{1, 1 << 20};  // query heads of a request

namespace descriptors {

#define SEXTANT_SCHEME(name) extern const Scheme name;
#include "schemes/schemes.def"
#undef SEXTANT_SCHEME

// The parameters of a scheme whose options are these structs: their fields, as they begin.
template <class... Options>
std::span<const Option> parameters_of() {
  static const std::vector<Option> list = options_of(Options{}...);
  return list;
}

// The parameters of one request: the given ones, else the defaults of the descriptor. Throws Error
// for a name that the scheme does not have, with those it has, and for a missing parameter without
// a default.
class Parameters {
 public:
  Parameters(const Scheme& scheme, const SchemeRequest& request);

  const std::string& text(std::string_view name) const;
  // The members of a struct whose fields are parameters of the scheme or sizes of the request
  // (width, heads, head_dim); the others stay.
  template <class Options>
  Options options(Options begin = {}) const {
    each_field<Options>([&](const auto& field) {
      if (!field.from_request) {
        read_field(begin, field, text(field.name), where(field.name));
      } else if constexpr (std::is_same_v<decltype(field.member), std::int64_t Options::*>) {
        begin.*field.member = size(field.name, begin.*field.member);
      }
    });
    return begin;
  }
  // The request's weights, or the initial ones; throws Error unless they are those of the
  // descriptor. One of them, finite and of the sizes that the descriptor says.
  const SchemeWeights& weights() const;
  const Tensor<double>& weight(std::string_view name) const;
  // Returns "sinusoidal.base": the name in an Error about the parameter.
  std::string where(std::string_view name) const;

 private:
  // A size of the request by name; `otherwise` where it has none of that name.
  std::int64_t size(std::string_view name, std::int64_t otherwise) const noexcept;

  const Scheme& scheme_;
  const SchemeRequest& request_;  // outlives this
  mutable SchemeWeights initial_;
  mutable WeightSizes sizes_;
  std::map<std::string, std::string, std::less<>> values_;
};

}  // namespace descriptors
}  // namespace sextant
