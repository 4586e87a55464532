// A rival for C++ users: dlib trains the small character model of `training --list-json` with a
// transformer of its own layers. They differ from ours where dlib has no other: norms are RMS over
// the whole sequence, Adam's decay is in the gradient, nothing is clipped. OpenBLAS multiplies
// matrices. bench/peers/torch_training.py says how it is asked.
#include <dlib/dnn.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <string>
#include <vector>

#include "core/json/json.h"
#include "sextant/core/error.h"
#include "support/machine.h"
#include "training/cases.h"

extern "C" void openblas_set_num_threads(int threads);

namespace {

using namespace dlib;
using sextant::Json;

// Layers have their sizes in their types.
constexpr long kVocabulary = 96, kWidth = 128, kHeads = 4, kLayers = 4, kHidden = 512,
               kLength = 128;
constexpr long kHeadDim = kWidth / kHeads;

// [1, kLength, kWidth] to [kHeads, kHeadDim, kLength], to [kHeads, kLength, kHeadDim], and back.
template <class Below>
using columns = reshape_to<kHeads, kHeadDim, kLength, transpose<Below>>;
template <class Below>
using rows = transpose<columns<Below>>;
template <class Below>
using joined = transpose<reshape_to<1, kWidth, kLength, transpose<Below>>>;

template <class Below>
using values = tag2<rows<linear<kWidth, tag1<rms_norm<Below>>>>>;
template <class Below>
using keys = tag3<columns<linear<kWidth, skip1<values<Below>>>>>;
template <class Below>
using weights =
    softmaxm<tril_mask<multiply<multm_prev3<rows<linear<kWidth, skip1<keys<Below>>>>>>>>;
template <class Below>
using attention = add_prev4<linear<kWidth, joined<multm_prev2<weights<tag4<Below>>>>>>;
template <class Below>
using feed_forward = add_prev5<linear<kWidth, relu<linear<kHidden, rms_norm<tag5<Below>>>>>>;
template <class Below>
using layer = feed_forward<attention<Below>>;
using Hidden =
    repeat<kLayers, layer,
           positional_encodings<embeddings<kVocabulary, kWidth, input<matrix<int, 0, 1>>>>>;
using Network = loss_multiclass_log_per_pixel<
    reshape_to<kVocabulary, kLength, 1, transpose<linear_no_bias<kVocabulary, rms_norm<Hidden>>>>>;

bool has_sizes(const sextant::bench::TrainingCase& test) {
  const sextant::TransformerConfig& c = test.config;
  const auto same = [](const sextant::bench::Lengths& one) { return one.target == kLength; };
  return c.kind == sextant::ModelKind::causal && c.vocabulary == kVocabulary && c.width == kWidth &&
         c.heads == kHeads && c.layers == kLayers && c.ffn_width == kHidden && test.dropout == 0 &&
         test.batches.size() == 1 && std::ranges::all_of(test.batches[0], same);
}

class Training {
 public:
  explicit Training(const sextant::bench::TrainingCase& test)
      : solvers_(Network::num_computational_layers, adam(0.01F, 0.9F, 0.999F)) {
    visit_computational_layers(net_, [](multiply_& scale) {
      scale = multiply_(1 / std::sqrt(static_cast<float>(kHeadDim)));
    });
    const sextant::TokenBatch batch = sextant::bench::token_batch(test, 0);
    for (std::size_t first = 0; first < batch.tokens.size(); first += kLength) {
      matrix<int, 0, 1> tokens(kLength);
      matrix<std::uint16_t> targets(kLength, 1);
      for (long i = 0; i < kLength; ++i) {
        const std::size_t at = first + static_cast<std::size_t>(i);
        tokens(i) = static_cast<int>(batch.tokens[at]);
        targets(i, 0) = static_cast<std::uint16_t>(batch.targets[at]);
      }
      tokens_.push_back(tokens);
      targets_.push_back(targets);
    }
  }
  // One step; its loss.
  double step() {
    net_.to_tensor(tokens_.begin(), tokens_.end(), input_);
    const double loss = net_.compute_parameter_gradients(input_, targets_.begin());
    net_.update_parameters(solvers_, 3e-4);
    return loss;
  }
  std::size_t parameters() {
    step();                                    // shapes are made with the first input
    std::size_t count = kVocabulary * kWidth;  // of the embedding, which dlib does not count
    visit_layer_parameters(net_, [&](tensor& one) { count += one.size(); });
    return count;
  }

 private:
  Network net_;
  std::vector<adam> solvers_;
  std::vector<matrix<int, 0, 1>> tokens_;
  std::vector<matrix<std::uint16_t>> targets_;
  resizable_tensor input_;
};

double seconds_of(const auto& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void serve() {
  const auto answer = [](const Json& content) { std::cout << content << std::endl; };
  std::string line;
  std::getline(std::cin, line);
  const Json request = Json::parse(line);
  const auto name = request.at("case").at("name").get<std::string>();
  const auto cases = sextant::bench::training_cases(request.value("quick", false));
  const auto test = std::ranges::find(cases, name, &sextant::bench::TrainingCase::name);
  if (test == cases.end() || !has_sizes(*test)) {
    throw sextant::Error("case", "must have the sizes of this program's network, got " + name);
  }
  openblas_set_num_threads(request.at("threads").get<int>());
  const sextant::bench::MemoryGrowth memory;
  Training training(*test);
  answer({{"version", SEXTANT_DLIB_VERSION}, {"parameters", training.parameters()}});
  while (std::getline(std::cin, line)) {
    std::vector<double> seconds;
    double loss = 0;
    for (int left = std::stoi(line); left > 0; --left) {
      seconds.push_back(seconds_of([&] { loss = training.step(); }));
    }
    answer({{"seconds", seconds},
            {"loss", loss},
            {"memory", sextant::bench::peak_memory()},
            {"growth", memory.bytes()}});
  }
}

}  // namespace

int main() {
  try {
    serve();
  } catch (const std::exception& error) {
    std::cerr << "peer_dlib: " << error.what() << "\n";
    return 2;
  }
}
