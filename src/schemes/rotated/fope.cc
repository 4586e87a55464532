// FoPE: the cosines and sines of the kept frequencies, times a matrix for each head.
#include "sextant/schemes/rotated/fope.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "core/arrays/each_dtype.h"
#include "core/numbers/wide_float.h"
#include "core/threads/interruption.h"
#include "schemes/added/sinusoidal_positions.h"
#include "schemes/definition.h"
#include "schemes/rotated/rotation_fields.h"
#include "schemes/rotated/rotation_generator.h"
#include "schemes/weight_checks.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"
#include "sextant/core/random.h"

namespace sextant {

template <>
inline constexpr auto kFields<Fope> = std::tuple_cat(
    rotation_fields<Fope>(),
    std::tuple{field(&Fope::train_length, "train_length", IntegerRange{7, kMaxPosition},
                     "pairs of longer wavelengths are not rotated"),
               field(&Fope::gain, "gain", NumberRange{0, 1000},
                     "size of the initial coefficients of other frequencies")});

template <>
inline constexpr auto kWeights<FopeWeights> =
    std::tuple{weight(&FopeWeights::cos_coef, "cos_coef", "[heads, frequencies, frequencies]",
                      "share of each frequency in the cosine of a pair"),
               weight(&FopeWeights::sin_coef, "sin_coef", "[heads, frequencies, frequencies]",
                      "share of each frequency in the sine of a pair")};

namespace {

constexpr std::int64_t kTaskRows = 64;

Rotation checked(const Fope& options) {
  Rotation rotation = rotation_from("fope", options);
  set_frequencies(rotation);
  return rotation;
}

// Frequencies descend, or are all at least 1: those that are kept come first.
std::int64_t kept(const Rotation& rotation, const Fope& options) {
  const WideFloat length(static_cast<double>(options.train_length));
  const WideFloat circle = wide_pi() + wide_pi();
  return std::count_if(rotation.frequencies.begin(), rotation.frequencies.end(),
                       [&](const WideFloat& w) { return !(w * length - circle).is_negative(); });
}

std::int64_t check_weights(const Rotation& rotation, const Fope& options,
                           const FopeWeights& weights) {
  const std::int64_t count = kept(rotation, options);
  const std::string reason = " for train_length " + std::to_string(options.train_length);
  schemes_detail::check_weight("fope", "cos_coef", weights.cos_coef, {"heads", count, count},
                               reason);
  const std::int64_t heads = weights.cos_coef.size(0);
  schemes_detail::check_weight("fope", "sin_coef", weights.sin_coef, {heads, count, count}, reason);
  return count;
}

// The cosines, or sines, of the kept frequencies: [rows, count].
Tensor<double> waves(const Rotation& rotation, std::int64_t count, bool cosine,
                     std::span<const std::int64_t> positions) {
  std::vector<std::int32_t> which(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), 0);
  Tensor<double> values = Tensor<double>::uninitialized({std::ssize(positions), count});
  fill_rotation(rotation, which, cosine, listed_positions(positions, rotation.where("positions")),
                values.data());
  return values;
}

// to[h, row, k] = sum over j of waves[row, j] coefficients[h, j, k]; `rest` for the other pairs.
template <Floating T>
void multiply(const Rotation& rotation, const Tensor<double>& waves,
              const Tensor<double>& coefficients, double rest, Tensor<T>& to) {
  const bool framework = rotation.precision == Precision::framework;
  const std::int64_t rows = waves.size(0), count = waves.size(1), pairs = rotation.pairs();
  const std::int64_t tasks = (rows + kTaskRows - 1) / kTaskRows;
  parallel_for(coefficients.size(0) * tasks, rotation.threads, [&](std::int64_t task) {
    check_interruption();
    const std::int64_t head = task / tasks;
    const double* matrix = coefficients.data() + head * count * count;
    const std::int64_t end = std::min(rows, (task % tasks + 1) * kTaskRows);
    std::vector<double> sums(static_cast<std::size_t>(count));
    for (std::int64_t row = task % tasks * kTaskRows; row < end; ++row) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t j = 0; j < count; ++j) {
        const double wave = waves(row, j);
        for (std::int64_t k = 0; k < count; ++k) {
          const double factor = matrix[j * count + k];
          sums[static_cast<std::size_t>(k)] +=
              wave * (framework ? static_cast<double>(static_cast<float>(factor)) : factor);
        }
      }
      T* out = to.data() + (head * rows + row) * pairs;
      for (std::int64_t k = 0; k < pairs; ++k) {
        const double sum = k < count ? sums[static_cast<std::size_t>(k)] : rest;
        out[k] = framework ? static_cast<T>(static_cast<float>(sum)) : static_cast<T>(sum);
      }
    }
  });
}

}  // namespace

std::int64_t fope_frequencies(const Fope& options) { return kept(checked(options), options); }

template <Floating T>
RotationTable<T> fope(const Fope& options, const FopeWeights& weights,
                      std::span<const std::int64_t> positions) {
  const Rotation rotation = checked(options);
  check_frequencies(rotation);
  const std::int64_t count = check_weights(rotation, options, weights);
  const std::int64_t heads = weights.cos_coef.size(0), rows = std::ssize(positions);
  check_range(IntegerRange{0, kHeads.max}, "fope.heads", heads);
  check_table_size("fope.positions", rows, rotation.pairs() * std::max<std::int64_t>(heads, 1),
                   "heads * pairs");
  RotationTable<T> table{Tensor<T>::uninitialized({heads, rows, rotation.pairs()}),
                         Tensor<T>::uninitialized({heads, rows, rotation.pairs()}), rotation.layout,
                         rotation.first_channel};
  table.set_positions(positions);
  multiply(rotation, waves(rotation, count, true, positions), weights.cos_coef, 1, table.cos);
  multiply(rotation, waves(rotation, count, false, positions), weights.sin_coef, 0, table.sin);
  return table;
}

FopeWeights fope_weights(const Fope& options, std::int64_t heads, std::uint32_t seed) {
  check_range(kHeads, "fope.heads", heads);
  const std::int64_t count = fope_frequencies(options);
  const double deviation =
      options.gain * std::sqrt(2 / static_cast<double>(count * (count + heads)));
  NumpyRandom random(seed);
  FopeWeights weights;
  for (Tensor<double>* each : {&weights.cos_coef, &weights.sin_coef}) {
    *each = Tensor<double>({heads, count, count});
    for (std::int64_t i = 0; i < each->count(); ++i) {
      const bool own = i / count % count == i % count;
      each->data()[i] = (own ? 1 : 0) + deviation * random.normal();
    }
  }
  return weights;
}

FopeWeights fope_backward(const Fope& options, const FopeWeights& weights,
                          View<const double> gradient, std::span<const std::int64_t> positions) {
  const Rotation rotation = checked(options);
  check_frequencies(rotation);
  const std::int64_t count = check_weights(rotation, options, weights);
  const std::int64_t heads = weights.cos_coef.size(0), rows = std::ssize(positions);
  check_rotation_gradient("fope", gradient, Shape({heads, rows, rotation.pairs()}));
  FopeWeights gradients;
  for (const bool cosine : {true, false}) {
    const Tensor<double> of = waves(rotation, count, cosine, positions);
    Tensor<double>& to = cosine ? gradients.cos_coef : gradients.sin_coef;
    to = Tensor<double>({heads, count, count});
    for (std::int64_t h = 0; h < heads; ++h) {
      for (std::int64_t row = 0; row < rows; ++row) {
        check_interruption();
        for (std::int64_t j = 0; j < count; ++j) {
          for (std::int64_t k = 0; k < count; ++k) {
            to(h, j, k) += of(row, j) * gradient(cosine ? 0 : 1, h, row, k);
          }
        }
      }
    }
  }
  return gradients;
}

RotationFrequencies rotation_frequencies(const Fope& options) {
  const Rotation rotation = checked(options);
  RotationFrequencies frequencies = frequencies_of(rotation);
  std::fill(frequencies.inv_freq.begin() + kept(rotation, options), frequencies.inv_freq.end(), 0);
  return frequencies;
}

#define SEXTANT_INSTANTIATE(T) \
  template RotationTable<T> fope(const Fope&, const FopeWeights&, std::span<const std::int64_t>);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

namespace descriptors {
namespace {

constexpr Definition<FopeWeights, Fope> kDefinition = {
    .name = "fope",
    .title = "FoPE",
    .kind = SchemeKind::rotated,
    .idea =
        "Rotary whose cosines and sines are sums over all frequencies with a full period in the "
        "training texts.",
    .paper = "Hua et al. 2024, 2412.17739",
    .sizes = [](const auto& of) -> WeightSizes {
      const std::int64_t count = fope_frequencies(of);
      const std::vector<std::int64_t> sizes = {of.request.heads, count, count};
      return {{"cos_coef", sizes}, {"sin_coef", sizes}};
    },
    .initial =
        [](const auto& of, InitialWeights& to) {
          FopeWeights weights = fope_weights(of, of.request.heads, to.seed());
          to.at("cos_coef") = std::move(weights.cos_coef);
          to.at("sin_coef") = std::move(weights.sin_coef);
        },
    .make = [](const auto& of, const auto& weights) -> SchemeTable {
      return fope<double>(of, weights, of.ids());
    },
    .backward = [](const auto& of, const auto& weights,
                   auto gradient) { return fope_backward(of, weights, gradient, of.ids()); },
    .frequencies = [](const auto& of, const auto&) { return rotation_frequencies(of); },
};

}  // namespace

constinit const Scheme kFope = scheme_of<kFope, kDefinition>();

}  // namespace descriptors
}  // namespace sextant
