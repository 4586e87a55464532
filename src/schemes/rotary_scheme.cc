// How rotary positions present themselves in the list of schemes; the tables are made by rotary().
#include "schemes/descriptors.h"
#include "sextant/schemes/rotary.h"

namespace sextant::descriptors {
namespace {

constexpr SchemeParameter kParameters[] = {
    {"base", "10000", "> 0", "wavelengths run from 2 pi to 2 pi times this"},
    {"layout", "half_split", "half_split | interleaved",
     "which channels make a pair: k and k + n/2, or 2k and 2k + 1"},
    {"rotary_dim", "0", "even, 0 .. head_dim", "channels of a head that turn; 0: all of them"},
    {"precision", "exact", "exact | framework",
     "the true values, or what float32 frameworks compute"},
};

SchemeTable make(const SchemeRequest& request) {
  const Parameters given(kRotary, request);
  Rotary options;
  options.head_dim = request.head_dim;
  options.rotary_dim = given.integer("rotary_dim");
  options.base = given.number("base");
  options.layout = parse_name<RotaryLayout>(given.text("layout"), given.where("layout"));
  options.precision = parse_name<Precision>(given.text("precision"), given.where("precision"));
  return rotary<double>(options, request.positions);
}

}  // namespace

constinit const Scheme kRotary = {
    .name = "rotary",
    .kind = SchemeKind::rotated,
    .idea =
        "Turns pairs of channels of q and k by position times frequency, so that scores see "
        "distances only.",
    .paper = "Su et al. 2021, 2104.09864",
    .parameters = kParameters,
    .make = make,
};

}  // namespace sextant::descriptors
