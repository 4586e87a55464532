// Where training starts: random numbers by the parameter `seed`, the same on every machine.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/threads/interruption.h"
#include "schemes/descriptors.h"
#include "sextant/core/random.h"

namespace sextant {

// The parameter that every learned scheme has in addition to its options.
struct InitialSeed {
  std::uint32_t seed = 0;
};
template <>
inline constexpr auto kFields<InitialSeed> =
    std::tuple{field(&InitialSeed::seed, "seed", kSeeds, "seed of the initial weights")};

namespace descriptors {

// Makes all weights of a scheme, set by name, one after the other; the others are 0. A size that
// may be any is 1 unless it is set.
class InitialWeights {
 public:
  // Throws Error unless the request has 1 .. 2^20 heads.
  InitialWeights(const Scheme& scheme, const SchemeRequest& request)
      : seed_(Parameters(scheme, request).options<InitialSeed>().seed), random_(seed_) {
    check_range(kHeads, std::string(scheme.name) + ".heads", request.heads);
    for (const auto& [name, sizes] : scheme.weight_sizes(request)) {
      std::vector<std::int64_t> shape = sizes;
      std::replace(shape.begin(), shape.end(), kAnySize, std::int64_t{1});
      values_.emplace(name, Tensor<double>(Shape(shape)));
    }
  }

  void resize(const std::string& name, const Shape& shape) {
    values_.insert_or_assign(name, Tensor<double>(shape));
  }
  void normal(const std::string& name, double deviation) {
    fill(name, [&] { return deviation * random_.normal(); });
  }
  void uniform(const std::string& name, double min, double max) {
    fill(name, [&] { return min + (max - min) * random_.uniform(); });
  }
  void set(const std::string& name, double number) {
    fill(name, [&] { return number; });
  }

  std::uint32_t seed() const noexcept { return seed_; }
  Tensor<double>& at(const std::string& name) { return values_.at(name); }

  SchemeWeights take() { return std::move(values_); }

 private:
  template <class Make>
  void fill(const std::string& name, const Make& make) {
    const auto values = values_.at(name).span();
    in_parts(std::ssize(values), [&](std::int64_t begin, std::int64_t end) {
      std::generate(values.begin() + begin, values.begin() + end, make);
    });
  }

  std::uint32_t seed_;
  NumpyRandom random_;
  SchemeWeights values_;
};

}  // namespace descriptors
}  // namespace sextant
