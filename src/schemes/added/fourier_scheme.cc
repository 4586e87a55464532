// How Fourier features present themselves in the list of schemes: ids become coordinates in
// [-1, 1].
#include <algorithm>
#include <string>
#include <vector>

#include "core/quoted_text.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/schemes/added/fourier.h"

namespace sextant::descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"form", "gaussian", "gaussian | nerf | nerf_pi | bands",
     "random frequencies, powers of two, powers of two times pi, or evenly spaced ones"},
    {"scale", "1", "finite", "deviation of the random frequencies"},
    {"seed", "0", "0 .. 4294967295", "of the random frequencies"},
    {"layout", "cos_first", "cos_first | half_split | interleaved",
     "of form gaussian: the order of sines and cosines"},
    {"max_frequency", "10", "finite", "of form bands: the last frequency is pi times half of this"},
    {"input", "none", "none | first | last",
     "of the other forms: whether and where the coordinates themselves are included"},
    {"length", "auto", "auto or >= 1",
     "ids per axis: id p becomes (2 p + 1) / length - 1; auto: up to the last id"},
};

constexpr SchemeWeight kWeights[] = {
    {"frequencies", "[axes, width / 2]", "of form gaussian: turns per unit of a coordinate"},
};

Tensor<double> coordinates_of(const Parameters& given, const SchemeRequest& request) {
  listed_positions(request.positions, "fourier.positions");
  Tensor<double> coordinates = Tensor<double>::uninitialized({request.rows(), request.axes});
  for (std::int64_t axis = 0; axis < request.axes; ++axis) {
    std::int64_t length = 0;
    if (given.text("length") == "auto") {
      for (auto i = static_cast<std::size_t>(axis); i < request.positions.size();
           i += static_cast<std::size_t>(request.axes))
        length = std::max(length, request.positions[i]);
      ++length;
    } else {
      length = given.integer("length");
    }
    if (length < 1) {
      throw Error(given.where("length"), "must be 1 or more, got " + std::to_string(length));
    }
    for (std::int64_t row = 0; row < request.rows(); ++row) {
      const std::int64_t id =
          request.positions[static_cast<std::size_t>(row * request.axes + axis)];
      coordinates(row, axis) = (2 * static_cast<double>(id) + 1) / static_cast<double>(length) - 1;
    }
  }
  return coordinates;
}

FourierInput input_of(const Parameters& given) {
  for (const FourierInput input : {FourierInput::none, FourierInput::first, FourierInput::last}) {
    if (given.text("input") == name_of(input)) return input;
  }
  throw Error(given.where("input"),
              "must be one of none, first, last, got " + quoted_text(given.text("input")));
}

SinusoidalLayout layout_of(const Parameters& given) {
  return parse_name<SinusoidalLayout>(given.text("layout"), given.where("layout"));
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

bool is_gaussian(const Parameters& given) {
  const std::string& form = given.text("form");
  for (const char* known : {"gaussian", "nerf", "nerf_pi", "bands"}) {
    if (form == known) return form == "gaussian";
  }
  throw Error(given.where("form"),
              "must be one of gaussian, nerf, nerf_pi, bands, got " + quoted_text(form));
}

SchemeWeights initial_weights(const SchemeRequest& request) {
  const Parameters given(kFourier, request);
  SchemeWeights weights;
  if (!is_gaussian(given)) {
    weights.emplace("frequencies", Tensor<double>({request.axes, request.width / 2}));
    return weights;  // of these forms nothing is learned
  }
  const std::int64_t seed = given.integer("seed");
  if (seed < 0 || seed > 0xffffffff) {
    throw Error(given.where("seed"), "must be 0 .. 2^32 - 1, got " + std::to_string(seed));
  }
  weights.emplace("frequencies",
                  gaussian_frequencies(request.axes, frequencies_of(request, 1, false),
                                       given.number("scale"), static_cast<std::uint32_t>(seed)));
  return weights;
}

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kFourier, request);
  const bool gaussian = is_gaussian(given);
  const Tensor<double> coordinates = coordinates_of(given, request);
  const FourierInput input = input_of(given);
  const SinusoidalLayout layout = layout_of(given);
  if (gaussian) {
    if (input != FourierInput::none) {
      throw Error(given.where("input"),
                  "must be none for form gaussian, got " + std::string(name_of(input)));
    }
    const Shape shape{request.axes, frequencies_of(request, 1, false)};
    return fourier_features<double>(coordinates, given.weight("frequencies", shape), layout);
  }
  const std::int64_t n = frequencies_of(request, request.axes, input != FourierInput::none);
  if (given.text("form") == "bands") {
    return band_features<double>({n, given.number("max_frequency"), input}, coordinates);
  }
  return nerf_features<double>({n, given.text("form") == "nerf_pi", input}, coordinates);
}

std::int64_t length_class(const SchemeRequest& request, std::int64_t length) {
  return Parameters(kFourier, request).text("length") == "auto" ? length : 0;
}

SchemeWeights backward(const SchemeRequest& request, View<const double> gradient) {
  const Parameters given(kFourier, request);
  SchemeWeights result;
  if (!is_gaussian(given)) return initial_weights(request);
  const Shape shape{request.axes, frequencies_of(request, 1, false)};
  result.emplace("frequencies",
                 fourier_backward(coordinates_of(given, request),
                                  given.weight("frequencies", shape), layout_of(given), gradient));
  return result;
}

}  // namespace

constinit const Scheme kFourier = {
    .name = "fourier",
    .kind = SchemeKind::added,
    .idea =
        "Adds sines and cosines of real coordinates at random, doubling or evenly spaced "
        "frequencies.",
    .paper = "Tancik et al. 2020, 2006.10739; Mildenhall et al. 2020, 2003.08934",
    .parameters = kParameters,
    .make = make,
    .weights = kWeights,
    .initial_weights = initial_weights,
    .backward = backward,
    .length_class = length_class,
};

}  // namespace sextant::descriptors
