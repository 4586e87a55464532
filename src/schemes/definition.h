// One scheme as one definition: its names, and typed functions that read the options and weights of
// a request. The descriptor, which reads requests by name, is made from it.
//
//   constexpr Definition<ClippedWeights, Clipped> kDefinition = {
//       .name = "clipped", .title = "clipped", .kind = SchemeKind::distance_bias, ...
//       .sizes = [](const auto& of) -> WeightSizes {
//         return {{"table", {2 * of.max_distance + 1, of.request.heads}}};
//       },
//       .initial = [](const auto&, InitialWeights& to) { to.normal("table", 0.02); },
//       .make = [](const auto& of, const auto& weights) -> SchemeTable {
//         return clipped(of, weights, of.length());
//       },
//       .backward = [](const auto& of, const auto& weights, auto gradient) {
//         return clipped_backward(of, weights, gradient);
//       }};
//   constinit const Scheme kClipped = scheme_of<kClipped, kDefinition>();
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schemes/distance/distances.h"
#include "schemes/ids/grid.h"
#include "schemes/initial_weights.h"
#include "schemes/weight_fields.h"

namespace sextant::descriptors {

// A request as a definition's functions see it: the members of its options, and the rest of it.
template <class... Options>
struct Given : Options... {
  Given(const Scheme& of, const Parameters& parameters, const SchemeRequest& from)
      : Options(parameters.template options<Options>())..., scheme(of), request(from) {}

  // The ids of the rows; throws Error where a row has several.
  std::span<const std::int64_t> ids() const {
    check_one_id(request, scheme.name);
    return request.positions;
  }
  // How long a table by distance has to be.
  std::int64_t length() const { return schemes_detail::distances_of(scheme.name, request); }

  const Scheme& scheme;
  const SchemeRequest& request;
};

struct NoWeights {};  // of schemes that learn nothing

template <class SchemeWeights, class... Options>
struct Definition {
  using Weights = SchemeWeights;
  using Request = Given<Options...>;
  static constexpr bool kLearned = !std::is_same_v<Weights, NoWeights>;
  // Functions of the request, and of the weights where there are any.
  template <class Result>
  using Function = std::conditional_t<kLearned, Result (*)(const Request&, const Weights&),
                                      Result (*)(const Request&)>;

  // See Scheme.
  std::string_view name, title;
  SchemeKind kind;
  std::string_view idea, paper;
  WeightSizes (*sizes)(const Request&) = nullptr;
  void (*initial)(const Request&, InitialWeights& weights) = nullptr;
  Function<SchemeTable> make = nullptr;
  Weights (*backward)(const Request&, const Weights&, View<const double> gradient) = nullptr;
  std::int64_t (*length_class)(const Request&, std::int64_t length) = nullptr;
  std::int64_t (*max_length)(const Request&) = nullptr;
  Function<RotationFrequencies> frequencies = nullptr;
  bool real_positions = false;
  bool weights_of_tokens = false;

  static std::span<const Option> parameters() {
    static const std::vector<Option> list = [] {
      if constexpr (kLearned) {
        return options_of(Options{}..., InitialSeed{});
      } else {
        return options_of(Options{}...);
      }
    }();
    return list;
  }
};

// The descriptor's functions for a definition.
template <const Scheme& scheme, const auto& definition>
struct Defined {
  using Of = std::remove_cvref_t<decltype(definition)>;
  using Weights = typename Of::Weights;
  using Request = typename Of::Request;

  static SchemeTable make(const SchemeRequest& request) { return call(definition.make, request); }
  static RotationFrequencies frequencies(const SchemeRequest& request) {
    return call(definition.frequencies, request);
  }
  static WeightSizes weight_sizes(const SchemeRequest& request) {
    return definition.sizes(read(request));
  }
  static SchemeWeights initial_weights(const SchemeRequest& request) {
    InitialWeights weights(scheme, request);
    definition.initial(read(request), weights);
    return weights.take();
  }
  static SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
    const Parameters given(scheme, request);
    return named(
        definition.backward(Request(scheme, given, request), weights_of<Weights>(given), gradient));
  }
  static std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
    return definition.length_class(read(request), length);
  }
  static std::int64_t max_length(const SchemeRequest& request) {
    return definition.max_length(read(request));
  }

 private:
  static Request read(const SchemeRequest& request) {
    return Request(scheme, Parameters(scheme, request), request);
  }
  static auto call(const auto& function, const SchemeRequest& request) {
    const Parameters given(scheme, request);
    const Request of(scheme, given, request);
    if constexpr (Of::kLearned) {
      return function(of, weights_of<Weights>(given));
    } else {
      return function(of);
    }
  }
};

// The descriptor `scheme` itself, from its definition.
template <const Scheme& scheme, const auto& definition>
constexpr Scheme scheme_of() {
  using Of = Defined<scheme, definition>;
  Scheme made{.name = definition.name,
              .title = definition.title,
              .kind = definition.kind,
              .idea = definition.idea,
              .paper = definition.paper,
              .parameters = Of::Of::parameters,
              .make = Of::make,
              .real_positions = definition.real_positions,
              .weights_of_tokens = definition.weights_of_tokens};
  if constexpr (Of::Of::kLearned) {
    made.weights = kWeightList<typename Of::Weights>;
    made.weight_sizes = Of::weight_sizes;
    made.initial_weights = Of::initial_weights;
    made.backward = Of::backward;
  }
  if constexpr (definition.length_class != nullptr) made.length_class = Of::length_class;
  if constexpr (definition.max_length != nullptr) made.max_length = Of::max_length;
  if constexpr (definition.frequencies != nullptr) made.frequencies = Of::frequencies;
  return made;
}

}  // namespace sextant::descriptors
