// How the sinusoidal family presents itself in the list of schemes; the tables are made by
// sinusoidal().
#include <map>
#include <string>
#include <string_view>

#include "schemes/descriptors.h"
#include "sextant/schemes/added/sinusoidal.h"

namespace sextant::descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"base", "10000", "> 0", "wavelengths run from 2 pi to 2 pi times this"},
    {"layout", "interleaved", "interleaved | half_split | cos_first",
     "the order of sines and cosines in a row"},
    {"ladder", "d", "d | d/2-1", "exponent 2k/width, or k/(width/2 - 1) so that the last one is 1"},
    {"exponent", "standard", "standard | doubled | doubled_unpaired",
     "the formula, or one of two common mistakes"},
    {"odd_width", "auto", "auto | extra_sine | zero_column | round_up",
     "the column left over when the width is odd; auto: extra_sine for ladder d, zero_column for "
     "d/2-1"},
    {"scale", "1", "finite", "multiplies every value"},
    {"precision", "exact", "exact | framework",
     "the true values, or what float32 frameworks compute"},
};

SchemeTable make(const SchemeRequest& request) {
  Sinusoidal options = sinusoidal_from(request.parameters);
  options.width = request.width;
  return sinusoidal<double>(options, request.positions);
}

}  // namespace

constinit const Scheme kSinusoidal = {
    .name = "sinusoidal",
    .kind = SchemeKind::added,
    .idea = "Adds sines and cosines of the position at wavelengths from 2 pi to 10000 x 2 pi.",
    .paper = "Vaswani et al. 2017, 1706.03762, section 3.5",
    .parameters = kParameters,
    .make = make,
};

}  // namespace sextant::descriptors

namespace sextant {

Sinusoidal sinusoidal_from(const std::map<std::string, std::string>& parameters) {
  SchemeRequest request;
  request.parameters = parameters;
  const descriptors::Parameters given(descriptors::kSinusoidal, request);
  const auto named = [&]<class T>(T, std::string_view name) {
    return parse_name<T>(given.text(name), given.where(name));
  };
  Sinusoidal options;
  options.base = given.number("base");
  options.layout = named(options.layout, "layout");
  options.ladder = named(options.ladder, "ladder");
  options.exponent = named(options.exponent, "exponent");
  if (given.text("odd_width") != "auto") options.odd_width = named(OddWidth{}, "odd_width");
  options.scale = given.number("scale");
  options.precision = named(options.precision, "precision");
  return options;
}

}  // namespace sextant
