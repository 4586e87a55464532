// The options of sinusoidal positions: names, ranges, and the descriptor. Tables are made by
// sinusoidal().
#include <map>
#include <string>
#include <string_view>

#include "schemes/added/sinusoidal_columns.h"
#include "schemes/choices.h"
#include "schemes/definition.h"
#include "sextant/core/error.h"

namespace sextant {

template <>
inline constexpr auto kMeanings<Exponent> =
    meanings("as in the formula", "every exponent twice as large, a common mistake",
             "as doubled, with the cosine of each pair one step further");

template <>
inline constexpr auto kMeanings<OddWidth> = meanings(
    "one more sine than cosines", "zeros", "the table of width + 1 without its last column");

template <>
inline constexpr auto kFields<Sinusoidal> = std::tuple{
    field(&Sinusoidal::width, "width", IntegerRange{1, 1 << 30}, "columns")
        .of_request()
        .with_condition("at least 4 for ladder d/2-1"),
    field(&Sinusoidal::base, "base", kAboveZero, "wavelengths run from 2 pi to about 2 pi * base"),
    field(&Sinusoidal::layout, "layout", "order of the columns"),
    field(&Sinusoidal::ladder, "ladder", "frequency of pair k of w columns"),
    field(&Sinusoidal::exponent, "exponent", "exponent of the frequencies"),
    field(&Sinusoidal::odd_width, "odd_width",
          "last column of an odd width; auto: extra_sine for ladder d, zero_column for d/2-1"),
    field(&Sinusoidal::scale, "scale", kFinite, "factor of all values"),
    field(&Sinusoidal::precision, "precision", "arithmetic of frequencies, angles and sines"),
    field(&Sinusoidal::threads, "threads", kThreads, "0: the default").of_request()};

void check_sinusoidal(const Sinusoidal& options) {
  check_fields("sinusoidal", options);
  if (options.ladder == Ladder::d_half_minus_1 && options.width < 4) {
    throw Error("sinusoidal.width",
                "must be 4 .. 2^30 for ladder d/2-1, got " + std::to_string(options.width));
  }
}

std::string_view name_of(SinusoidalLayout value) noexcept {
  return enum_name(value, {"interleaved", "half_split", "cos_first"});
}

std::string_view name_of(Ladder value) noexcept { return enum_name(value, {"d", "d/2-1"}); }

std::string_view name_of(Exponent value) noexcept {
  return enum_name(value, {"standard", "doubled", "doubled_unpaired"});
}

std::string_view name_of(OddWidth value) noexcept {
  return enum_name(value, {"extra_sine", "zero_column", "round_up"});
}

std::string_view name_of(Precision value) noexcept {
  return enum_name(value, {"exact", "framework"});
}

Sinusoidal sinusoidal_from(const std::map<std::string, std::string>& parameters) {
  SchemeRequest request;
  request.width = Sinusoidal{}.width;
  request.parameters = parameters;
  return descriptors::Parameters(descriptors::kSinusoidal, request).options<Sinusoidal>();
}

namespace descriptors {
namespace {

constexpr Definition<NoWeights, Sinusoidal> kDefinition = {
    .name = "sinusoidal",
    .title = "sinusoidal",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines of the position at wavelengths from 2 pi to 10000 x 2 pi.",
    .paper = "Vaswani et al. 2017, 1706.03762, section 3.5",
    .make = [](const auto& of) -> SchemeTable {
      const auto ids = of.ids();
      if (!of.request.times.empty()) return sinusoidal<double>(of, of.request.times);
      return sinusoidal<double>(of, ids);
    },
    .real_positions = true,
};

}  // namespace

constinit const Scheme kSinusoidal = scheme_of<kSinusoidal, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
