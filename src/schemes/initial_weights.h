// Where training starts: random numbers by the parameter `seed`, the same on every machine.
#pragma once

#include <cstdint>
#include <string>

#include "schemes/descriptors.h"
#include "sextant/core/error.h"
#include "sextant/core/random.h"

namespace sextant::descriptors {

class InitialWeights {
 public:
  // Throws Error unless `seed` is in 0 .. 2^32 - 1 and the request has 1 .. 2^20 heads.
  InitialWeights(const Parameters& given, const SchemeRequest& request) : random_(seed_of(given)) {
    if (request.heads < 1 || request.heads > (1 << 20)) {
      throw Error(given.where("heads"),
                  "must be in 1 .. 2^20, got " + std::to_string(request.heads));
    }
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
  static std::uint32_t seed_of(const Parameters& given) {
    const std::int64_t seed = given.integer("seed");
    if (seed < 0 || seed > 0xFFFFFFFF) {
      throw Error(given.where("seed"), "must be in 0 .. 2^32 - 1, got " + std::to_string(seed));
    }
    return static_cast<std::uint32_t>(seed);
  }

  NumpyRandom random_;
};

}  // namespace sextant::descriptors
