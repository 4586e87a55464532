// Where training starts: random numbers by the parameter `seed`, the same on every machine.
#pragma once

#include <cstdint>

#include "schemes/descriptors.h"
#include "sextant/core/random.h"

namespace sextant {

// The parameter that every learned scheme has beside its options.
struct InitialSeed {
  std::uint32_t seed = 0;
};
template <>
inline constexpr auto kFields<InitialSeed> =
    std::tuple{field(&InitialSeed::seed, "seed", kSeeds, "of the initial weights")};

namespace descriptors {

class InitialWeights {
 public:
  // Throws Error unless the request has 1 .. 2^20 heads.
  InitialWeights(const Parameters& given, const SchemeRequest& request)
      : random_(given.options<InitialSeed>().seed) {
    check_range(kHeads, given.where("heads"), request.heads);
  }

  Tensor<double> normal(const Shape& shape, double deviation) {
    Tensor<double> values(shape);
    for (double& value : values.span()) value = deviation * random_.normal();
    return values;
  }
  Tensor<double> uniform(const Shape& shape, double least, double most) {
    Tensor<double> values(shape);
    for (double& value : values.span()) value = least + (most - least) * random_.uniform();
    return values;
  }

 private:
  NumpyRandom random_;
};

}  // namespace descriptors
}  // namespace sextant
