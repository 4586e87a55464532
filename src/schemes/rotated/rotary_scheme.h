// How the schemes of the rotary family present themselves in the list: each is rotary() with one
// scaling or with several ids a row. Sections and a query scale go with every scaling.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

#include "schemes/descriptors.h"
#include "schemes/rotated/rotation.h"
#include "schemes/rotated/rotation_fields.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/scheme.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<SectionOrder> = meanings("one axis after the other",
                                                         "axes alternate");

template <>
inline constexpr auto kFields<SectionAxes> =
    std::tuple{field(&SectionAxes::sections, "sections", ListRange{IntegerRange{0, 1 << 29}},
                     "pairs per id, such as 16,24,24; auto: all pairs use one id (rotary_sections: "
                     "divided as evenly as possible)"),
               field(&SectionAxes::order, "order", "order of the pairs")};

// Which table a text of this length gets, of scalings that depend on it.
std::int64_t length_class(const DynamicNtkScaling& scaling, std::int64_t length);
std::int64_t length_class(const LongropeScaling& scaling, std::int64_t length);

namespace descriptors {

template <const Scheme& scheme, class Scaling, std::int64_t base, class Axes>
struct RotaryScheme {
  static std::span<const Option> parameters() {
    static const std::vector<Option> list =
        options_of(Rotary{.base = base}, Scaling{}, Axes{}, QueryScale{});
    return list;
  }

  static Rotary options(const SchemeRequest& request) {
    const Parameters given(scheme, request);
    Rotary options = given.options<Rotary>();
    options.head_dim = request.head_dim;
    options.scaling = given.options<Scaling>();
    const Axes axes = given.options<Axes>();
    if constexpr (std::is_same_v<Axes, SectionAxes>) {
      if (!axes.sections.empty() || scheme.name == SectionAxes::name) options.axes = axes;
    } else {
      options.axes = axes;
    }
    options.query_scale = given.options<QueryScale>();
    return options;
  }

  static SchemeTable make(const SchemeRequest& request) {
    if (!request.times.empty()) {
      return rotary<double>(options(request), View<const double>(request.times.data(),
                                                                 {request.rows(), request.axes}));
    }
    if (request.axes == 1) return rotary<double>(options(request), request.positions);
    return rotary<double>(options(request), ids_of(request));
  }

  static RotationFrequencies frequencies(const SchemeRequest& request) {
    const std::int64_t length =
        request.times.empty() ? length_of(request.positions) : length_of(request.times);
    return rotation_frequencies(options(request), length, request.axes == 1 ? 0 : request.axes);
  }

  static std::int64_t class_of(const SchemeRequest& request, std::int64_t length) {
    return length_class(std::get<Scaling>(options(request).scaling), length);
  }
};

template <const Scheme& scheme, class Scaling, std::int64_t base = 10000, class Axes = SectionAxes>
constexpr Scheme rotary_scheme(std::string_view name, std::string_view title, std::string_view idea,
                               std::string_view paper) {
  using Of = RotaryScheme<scheme, Scaling, base, Axes>;
  Scheme made{.name = name,
              .title = title,
              .kind = SchemeKind::rotated,
              .idea = idea,
              .paper = paper,
              .parameters = Of::parameters,
              .make = Of::make,
              .frequencies = Of::frequencies,
              .real_positions = std::is_same_v<Axes, SectionAxes>};
  if constexpr (requires(Scaling scaling) { length_class(scaling, 0); }) {
    made.length_class = Of::class_of;
  }
  return made;
}

}  // namespace descriptors
}  // namespace sextant
