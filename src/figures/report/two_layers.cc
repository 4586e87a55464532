// Computes how far apart two layers' outputs are for two orders of the words, without positions.
#include <algorithm>
#include <cmath>

#include "figures/report/parts.h"
#include "sextant/lessons/heads.h"

namespace sextant::figures {
namespace {

constexpr std::uint32_t kSeed =
    7;  // of the layers; the report's other random weights have the same seed

// x + attention(x), the output of a layer.
Tensor<double> after_layer(const MultiHead<double>& layer, const Tensor<double>& x, bool causal) {
  AttentionOptions<double> options;
  if (causal) options.causal = Causal::top_left;
  Tensor<double> sum = layer(x.view(), x.view(), options).output;
  for (std::int64_t i = 0; i < sum.count(); ++i) sum.data()[i] += x.data()[i];
  return sum;
}

// The length of the difference of the last rows, divided by the length of the longer one.
double last_rows_apart(const Tensor<double>& one, const Tensor<double>& other) {
  double difference = 0, first = 0, second = 0;
  for (std::int64_t i = 0; i < one.size(1); ++i) {
    const double a = one(one.size(0) - 1, i), b = other(other.size(0) - 1, i);
    difference += (a - b) * (a - b);
    first += a * a;
    second += b * b;
  }
  return std::sqrt(difference / std::max(first, second));
}

}  // namespace

LayersApart layers_apart(const ReportText& text) {
  const SentenceAttentionOptions model = report_model("none");
  const auto vectors = [&](const std::vector<std::string>& tokens) {
    return attend_sentences(tokens, {}, model).words;
  };
  NumpyRandom random(kSeed);
  const MultiHead<double> first(model.width, model.heads, random),
      second(model.width, model.heads, random);
  LayersApart apart{};
  for (const bool causal : {true, false}) {
    Tensor<double> one = vectors(text.tokens), other = vectors(swapped(text.tokens, *text.swap));
    std::array<double, 2>& distances = causal ? apart.causal : apart.unmasked;
    std::size_t layers = 0;
    for (const MultiHead<double>* layer : {&first, &second}) {
      one = after_layer(*layer, one, causal);
      other = after_layer(*layer, other, causal);
      distances[layers++] = last_rows_apart(one, other);
    }
  }
  return apart;
}

}  // namespace sextant::figures
