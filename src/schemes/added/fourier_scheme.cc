// How Fourier features present themselves in the list of schemes: ids become coordinates in
// [-1, 1].
#include <optional>
#include <string>

#include "core/numbers/max_position.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/choices.h"
#include "schemes/descriptors.h"
#include "schemes/ids/grid.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/fourier.h"

namespace sextant {
namespace {

enum class Form { gaussian, nerf, nerf_pi, bands };
std::string_view name_of(Form form) noexcept {
  return enum_name(form, {"gaussian", "nerf", "nerf_pi", "bands"});
}

struct Fourier {
  Form form = Form::gaussian;
  double scale = 1;
  std::uint32_t seed = 0;
  SinusoidalLayout layout = SinusoidalLayout::cos_first;
  double max_frequency = 10;
  FourierInput input = FourierInput::none;
  std::optional<std::int64_t> length;
};

}  // namespace

template <>
inline constexpr auto kMeanings<Form> = meanings("random", "powers of two",
                                                 "powers of two times pi", "evenly spaced");

template <>
inline constexpr auto kFields<Fourier> = std::tuple{
    field(&Fourier::form, "form", "type of the frequencies"),
    field(&Fourier::scale, "scale", kFinite, "gaussian: standard deviation of the frequencies"),
    field(&Fourier::seed, "seed", kSeeds, "gaussian: seed of the frequencies"),
    field(&Fourier::layout, "layout", "gaussian: order of sines and cosines"),
    field(&Fourier::max_frequency, "max_frequency", NumberRange{-kMaxCoordinate, kMaxCoordinate},
          "bands: the last frequency is pi * max_frequency / 2"),
    field(&Fourier::input, "input", "place of the raw coordinates")
        .with_condition("none for gaussian"),
    field(&Fourier::length, "length", at_least(1),
          "ids per axis: id p becomes the coordinate (2p + 1) / length - 1; auto: the largest id + "
          "1")};

namespace descriptors {
namespace {

constexpr SchemeWeight kWeights[] = {
    {"frequencies", "[axes, width / 2]", "gaussian: turns per unit of a coordinate"},
};

Fourier options_of(const SchemeRequest& request) {
  return Parameters(kFourier, request).options<Fourier>();
}

Tensor<double> coordinates_of(const Fourier& options, const SchemeRequest& request) {
  listed_positions(request.positions, "fourier.positions");
  Tensor<double> coordinates = Tensor<double>::uninitialized({request.rows(), request.axes});
  for (std::int64_t axis = 0; axis < request.axes; ++axis) {
    const std::int64_t length =
        options.length.value_or(min_side(request.positions, request.axes, axis));
    for (std::int64_t row = 0; row < request.rows(); ++row) {
      const std::int64_t id =
          request.positions[static_cast<std::size_t>(row * request.axes + axis)];
      coordinates(row, axis) = (2 * static_cast<double>(id) + 1) / static_cast<double>(length) - 1;
    }
  }
  return coordinates;
}

// Frequencies per axis of a width that has room for no others.
std::int64_t frequencies_of(const SchemeRequest& request, std::int64_t axes, bool input) {
  const std::int64_t rest = request.width - (input ? axes : 0);
  if (rest < 2 * axes || rest % (2 * axes) != 0) {
    throw Error("fourier.width", "must be a multiple of " + std::to_string(2 * axes) +
                                     (input ? " and " + std::to_string(axes) + " more" : "") +
                                     ", got " + std::to_string(request.width));
  }
  return rest / (2 * axes);
}

WeightSizes weight_sizes(const SchemeRequest& request) {
  const bool learns = options_of(request).form == Form::gaussian;
  return {{"frequencies",
           {request.axes, learns ? frequencies_of(request, 1, false) : request.width / 2}}};
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Fourier options = options_of(request);
  const std::int64_t count = weight_sizes(request)["frequencies"][1];
  SchemeWeights weights;
  weights.emplace("frequencies",
                  options.form == Form::gaussian
                      ? gaussian_frequencies(request.axes, count, options.scale, options.seed)
                      : Tensor<double>({request.axes, count}));  // nothing is learned
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kFourier, request);
  const auto options = given.options<Fourier>();
  const Tensor<double> coordinates = coordinates_of(options, request);
  if (options.form == Form::gaussian) {
    if (options.input != FourierInput::none) {
      throw Error(given.where("input"),
                  "must be none for form gaussian, got " + std::string(name_of(options.input)));
    }
    return fourier_features<double>(coordinates, given.weight("frequencies"), options.layout);
  }
  const std::int64_t n = frequencies_of(request, request.axes, options.input != FourierInput::none);
  if (options.form == Form::bands) {
    return band_features<double>({n, options.max_frequency, options.input}, coordinates);
  }
  return nerf_features<double>({n, options.form == Form::nerf_pi, options.input}, coordinates);
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  return options_of(request).length ? 0 : length;
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kFourier, request);
  const auto options = given.options<Fourier>();
  if (options.form != Form::gaussian) return initial_weights(request);
  SchemeWeights result;
  result.emplace("frequencies",
                 fourier_backward(coordinates_of(options, request), given.weight("frequencies"),
                                  options.layout, gradient));
  return result;
}

}  // namespace

constinit const Scheme kFourier = {
    .name = "fourier",
    .title = "Fourier",
    .kind = SchemeKind::added,
    .idea =
        "Adds sines and cosines of real coordinates at random, doubling or evenly spaced "
        "frequencies.",
    .paper = "Tancik et al. 2020, 2006.10739; Mildenhall et al. 2020, 2003.08934",
    .parameters = parameters_of<Fourier>,
    .make = make,
    .weights = kWeights,
    .weight_sizes = weight_sizes,
    .initial_weights = initial_weights,
    .backward = backward,
    .length_class = length_class,
};

}  // namespace descriptors
}  // namespace sextant
