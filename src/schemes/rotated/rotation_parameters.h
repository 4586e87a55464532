// How rotations present the options that they share.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/schemes/rotated/rotary.h"

namespace sextant::descriptors {

inline constexpr SchemeParameter kRotationSpan = {"span", "first", "first | last",
                                                  "which channels are rotated when not all are"};
inline constexpr SchemeParameter kRotationPrecision = {
    "precision", "exact", "exact | framework",
    "the true values, or what float32 frameworks compute"};

constexpr std::array<SchemeParameter, 5> rotation_parameters(
    std::string_view base = "10000", std::string_view layout = "half_split") {
  return {{{"base", base, "> 0", "wavelengths run from 2 pi to 2 pi times this"},
           {"layout", layout, "half_split | interleaved",
            "which channels make a pair: k and k + n/2, or 2k and 2k + 1"},
           {"rotary_dim", "0", "even, 0 .. head_dim",
            "channels of a head that are rotated; 0: all of them"},
           kRotationSpan,
           kRotationPrecision}};
}

// Those and a scheme's own.
template <std::size_t N>
constexpr std::array<SchemeParameter, N + 5> rotation_parameters(
    const SchemeParameter (&own)[N], std::string_view base = "10000",
    std::string_view layout = "half_split") {
  std::array<SchemeParameter, N + 5> all{};
  const std::array<SchemeParameter, 5> common = rotation_parameters(base, layout);
  for (std::size_t i = 0; i < 5; ++i) all[i] = common[i];
  for (std::size_t i = 0; i < N; ++i) all[5 + i] = own[i];
  return all;
}

template <class Options>
Options rotation_options(const Parameters& given, const SchemeRequest& request) {
  Options options;
  options.head_dim = request.head_dim;
  options.rotary_dim = given.integer("rotary_dim");
  options.base = given.number("base");
  options.layout = parse_name<RotaryLayout>(given.text("layout"), given.where("layout"));
  options.span = parse_name<RotarySpan>(given.text("span"), given.where("span"));
  options.precision = parse_name<Precision>(given.text("precision"), given.where("precision"));
  return options;
}

// What "auto" leaves to the scheme.
inline std::optional<double> number_or_auto(const Parameters& given, std::string_view name) {
  if (given.text(name) == "auto") return std::nullopt;
  return given.number(name);
}
inline std::optional<std::int64_t> integer_or_auto(const Parameters& given, std::string_view name) {
  if (given.text(name) == "auto") return std::nullopt;
  return given.integer(name);
}

// "16,24,24"; empty for "auto".
inline std::vector<std::int64_t> integers_or_auto(const Parameters& given, std::string_view name) {
  std::vector<std::int64_t> values;
  std::string_view rest = given.text(name);
  while (rest != "auto") {
    const auto comma = rest.find(',');
    values.push_back(parse_int64(rest.substr(0, comma), given.where(name)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  return values;
}

// The ids of a request, [rows, axes].
inline View<const std::int64_t> ids_of(const SchemeRequest& request) {
  return {request.positions.data(), {request.rows(), request.axes}};
}

// The ids of a scheme that takes one a row.
inline std::span<const std::int64_t> one_id_a_row(const Parameters& given,
                                                  const SchemeRequest& request) {
  if (request.axes == 1) return request.positions;
  throw Error(given.where("positions"),
              "must be one id per row, got " + std::to_string(request.axes));
}

}  // namespace sextant::descriptors
