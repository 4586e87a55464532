// The ends of a model of tokens, and the batches that it reads.
#include "sextant/models/token_model.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/layers/linear.h"

namespace sextant {
namespace {

const TransformerConfig& checked(const TransformerConfig& config, bool translates) {
  check_config(config);
  if ((config.kind == ModelKind::translator) == translates) return config;
  throw Error("transformer.kind",
              translates ? "must be translator, got " + std::string(name_of(config.kind))
                         : "must be causal or masked for a language model");
}

}  // namespace

TokenBatch TokenBatch::of(std::span<const std::int64_t> tokens,
                          std::span<const std::int64_t> types) {
  return {.tokens = {tokens.begin(), tokens.end()},
          .segments = {0, std::ssize(tokens)},
          .targets = std::vector<std::int64_t>(tokens.size(), -1),
          .types = {types.begin(), types.end()}};
}

void TokenBatch::check(std::int64_t vocabulary, std::int64_t token_types) const {
  const auto count = static_cast<std::int64_t>(tokens.size());
  if (segments.empty() || segments.front() != 0 || segments.back() != count ||
      !std::is_sorted(segments.begin(), segments.end())) {
    throw Error("batch.segments",
                "must rise from 0 to the number of tokens, " + std::to_string(count));
  }
  if (targets.size() != tokens.size()) {
    throw Error("batch.targets", "must be one per token, " + std::to_string(count) + ", got " +
                                     std::to_string(targets.size()));
  }
  for (const std::int64_t token : tokens) {
    if (token < 0 || token >= vocabulary) {
      throw Error("batch.tokens", "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " +
                                      std::to_string(token));
    }
  }
  if (!types.empty() && types.size() != tokens.size()) {
    throw Error("batch.types", "must be one per token, " + std::to_string(count) +
                                   ", or none, got " + std::to_string(types.size()));
  }
  for (const std::int64_t type : types) {
    if (type >= 0 && type < token_types) continue;
    throw Error("batch.types",
                "must be " +
                    std::string(token_types == 1 ? "0, the only type of the model"
                                                 : "0 .. " + std::to_string(token_types - 1)) +
                    ", got " + std::to_string(type));
  }
}

template <class T>
TokenModel<T>::TokenModel(const TransformerConfig& given, bool translates, Unset unset)
    : config(checked(given, translates)), embedding([&] {
        NumpyRandom random(config.seed);
        return Embedding<T>::random(config.vocabulary, config.width,
                                    unset ? FirstWeights(*unset) : FirstWeights(random));
      }()) {}

template <class T>
WeightView<T> TokenModel<T>::logits_matrix() const {
  if (!config.logits) {
    throw Error("model.logits",
                "must be of a model that has them: this one has hidden states alone");
  }
  return config.tied ? embedding.table().weights() : output.weights();
}

template <class T>
LogitOptions<T> TokenModel<T>::logit_options() const {
  return {.bias = output_bias.count() > 0 ? output_bias.data() : nullptr,
          .scale = config.logits_scale,
          .softcap = config.logits_softcap};
}

template <class T>
void TokenModel<T>::make_logits(View<const T> h, View<T> logits, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const View<const T> from = transform ? transform->forward(h, pass).y : h;
  sextant::make_logits<T>(from, logits_matrix(), logit_options(), logits, pass);
}

template <class T>
void TokenModel<T>::start_output(FirstWeights weights) {
  if (!config.logits) return;
  if (!config.tied) {
    output = std::move(Linear<T>::glorot(config.width, config.vocabulary, weights, false).weight);
  }
  if (config.logits_bias) output_bias = Tensor<T>({config.vocabulary});
  if (!config.logits_transform) return;
  transform.emplace(config.width, config.activation, config.norm, config.norm_epsilon, weights);
}

template <class T>
void TokenModel<T>::append_output(Parameters<T>& to) {
  if (output.count() > 0) to.push_back({"output.weight", &output, true});
  if (output_bias.count() > 0) to.push_back({"output.bias", &output_bias, false});
  if (transform) transform->append_parameters(to, "output.transform.");
}

template struct TokenModel<float>;
template struct TokenModel<double>;

}  // namespace sextant
