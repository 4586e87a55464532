// The encoder-decoder: pairs through both stacks to the loss, and back.
#include "sextant/models/translator.h"

#include "layers/attention/attend.h"
#include "layers/ops.h"
#include "models/stack_pass.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

template <class T>
TransformerStack<T> make_stack(const TransformerConfig& config, bool encoder,
                               std::optional<UnsetWeights> unset) {
  NumpyRandom random(config.seed + (encoder ? 1 : 2));
  return TransformerStack<T>(config.stack(encoder),
                             unset ? FirstWeights(*unset) : FirstWeights(random));
}

PairBatch one_pair(std::span<const std::int64_t> source, std::span<const std::int64_t> target) {
  return {{source.begin(), source.end()}, {0, std::ssize(source)}, TokenBatch::of(target)};
}

template <class T>
void check(const Translator<T>& model, const PairBatch& batch, const Pass& pass) {
  batch.check(model.config.vocabulary);
  layers::check_whole(pass, "translator.batch");
}

template <class T>
models::TokenStack<T> encoder_of(const Translator<T>& model) {
  return {model.embedding, model.config.embedding_factor(), model.encoder_positions, model.encoder};
}
template <class T>
models::TokenStack<T> decoder_of(const Translator<T>& model) {
  return {model.embedding, model.config.embedding_factor(), model.decoder_positions, model.decoder};
}

template <class T>
models::PackedTokens<T> source_of(const PairBatch& batch) {
  return {batch.source, batch.source_segments, batch.source_first_row};
}
template <class T>
models::PackedTokens<T> target_of(const PairBatch& batch, View<const T> context) {
  return {batch.target.tokens,  batch.target.segments, batch.target.first_row, {}, context,
          batch.source_segments};
}

// The results of encoder and decoder without gradients.
template <class T>
struct Inferred {
  View<const T> h, context;
};
template <class T>
Inferred<T> infer(const Translator<T>& model, const PairBatch& batch, Pass& pass,
                  const typename TransformerStack<T>::Observer& encoder = {},
                  const typename TransformerStack<T>::Observer& decoder = {}) {
  const View<const T> context =
      models::infer<T>(encoder_of(model), source_of<T>(batch), pass, encoder);
  return {models::infer<T>(decoder_of(model), target_of<T>(batch, context), pass, decoder),
          context};
}

}  // namespace

void PairBatch::check(std::int64_t vocabulary) const {
  target.check(vocabulary);
  TokenBatch sources{source, source_segments, source};
  sources.check(vocabulary);
  if (source_segments.size() != target.segments.size()) {
    throw Error("batch.source_segments", "must have as many sequences as the target");
  }
}

template <class T>
Translator<T>::Translator(const TransformerConfig& given, std::optional<UnsetWeights> unset)
    : TokenModel<T>(given, true, unset),
      encoder_positions(config.position_options()),
      decoder_positions(config.position_options(true)),
      encoder(make_stack<T>(config, true, unset)),
      decoder(make_stack<T>(config, false, unset)) {
  config.schemes = encoder_positions.options().schemes;  // as of LanguageModel
  if (!config.decoder_schemes.empty()) {
    config.decoder_schemes = decoder_positions.options().schemes;
  }
  NumpyRandom random(config.seed + 3);
  const FirstWeights weights = unset ? FirstWeights(*unset) : FirstWeights(random);
  this->start_output(weights);
  if (config.pointer) pointer.emplace(config.width, weights);
}

template <class T>
LossSum Translator<T>::loss(const PairBatch& batch, const TokenLossOptions& options,
                            Translator* gradient, Pass& pass) const {
  check(*this, batch, pass);
  const Workspace::Scope scope(pass.memory);
  const auto sum_of = [&](View<const T> h, View<const T> context, View<T> d, View<T> dcontext,
                          View<T> dmatrix) {
    const auto &segments = batch.target.segments, &targets = batch.target.targets;
    if (!pointer) {
      const bool has_bias = gradient != nullptr && gradient->output_bias.count() > 0;
      return token_loss<T>(h, logits_matrix(), targets, options, d, dmatrix, pass,
                           this->logit_options(),
                           has_bias ? gradient->output_bias.data() : nullptr);
    }
    return pointer->loss({h, context, batch.source, segments, batch.source_segments, targets},
                         logits_matrix(), options, d, dcontext, dmatrix,
                         gradient != nullptr ? &*gradient->pointer : nullptr, pass);
  };
  if (gradient == nullptr) {
    const auto [h, context] = infer(*this, batch, pass);
    return sum_of(h, context, {}, {}, {});
  }
  const models::StackPass<T> sources(encoder_of(*this), source_of<T>(batch), pass);
  const models::StackPass<T> targets(decoder_of(*this), target_of<T>(batch, sources.y()), pass);
  const View<T> d = pass.memory.take<T>(targets.y().shape());
  const View<T> dcontext = pass.memory.zeros<T>(sources.y().shape());
  const LossSum sum = sum_of(targets.y(), sources.y(), d, dcontext, gradient->output_gradient());
  targets.backward(d, dcontext, gradient->embedding, gradient->decoder_positions, gradient->decoder,
                   pass);
  sources.backward(dcontext, {}, gradient->embedding, gradient->encoder_positions,
                   gradient->encoder, pass);
  return sum;
}

template <class T>
typename Translator<T>::Maps Translator<T>::attention_maps(std::span<const std::int64_t> source,
                                                           std::span<const std::int64_t> target,
                                                           Pass& pass,
                                                           const MapSelection& chosen) const {
  if (!chosen.rows.empty()) {
    throw Error("attention_maps.rows", "must not be given for a translator");
  }
  const Workspace::Scope scope(pass.memory);
  const PairBatch batch = one_pair(source, target);
  check(*this, batch, pass);
  Maps maps;
  const auto [h, context] =
      infer(*this, batch, pass, models::weights_into<T>(encoder, chosen, &maps.encoder),
            models::weights_into<T>(decoder, chosen, &maps.decoder, &maps.cross));
  if (!pointer) return maps;
  const View<T> logits = pass.memory.zeros<T>({h.size(0), config.vocabulary});
  maps.copied = Tensor<T>({h.size(0), context.size(0)});
  pointer->mix(h, pointer->keys(context, pass), batch.source, logits, maps.copied, pass);
  return maps;
}

template <class T>
typename Translator<T>::HiddenStates Translator<T>::hidden_states(
    std::span<const std::int64_t> source, std::span<const std::int64_t> target, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PairBatch batch = one_pair(source, target);
  check(*this, batch, pass);
  HiddenStates states;
  const auto [h, context] =
      infer(*this, batch, pass, {.residual = models::states_into<T>(states.encoder)},
            {.residual = models::states_into<T>(states.decoder)});
  states.encoder.back() = copy_of(context);
  states.decoder.back() = copy_of(h);
  return states;
}

template <class T>
std::vector<Tensor<T>> Translator<T>::layer_logits(std::span<const std::int64_t> source,
                                                   std::span<const std::int64_t> target,
                                                   Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PairBatch batch = one_pair(source, target);
  check(*this, batch, pass);
  const View<const T> context = models::infer<T>(encoder_of(*this), source_of<T>(batch), pass);
  View<const T> keys;
  if (pointer) keys = pointer->keys(context, pass);
  const auto make = [&](View<const T> h, View<T> logits) {
    this->make_logits(h, logits, pass);
    if (pointer) pointer->mix(h, keys, batch.source, logits, {}, pass);
  };
  return models::layer_logits<T>(decoder_of(*this), target_of<T>(batch, context), pass, make);
}

template <class T>
std::vector<std::int64_t> Translator<T>::decoder_input(std::span<const std::int64_t> target) const {
  std::vector<std::int64_t> read = config.target_start;
  read.insert(read.end(), target.begin(), target.end());
  return read;
}

template <class T>
void Translator<T>::replace_schemes(const SchemeSpecs& schemes,
                                    std::span<const std::int64_t> layers) {
  const TransformerConfig changed = with_schemes(config, schemes, layers);
  PositionModule<T> of_encoder(changed.position_options()),
      of_decoder(changed.position_options(true));
  encoder_positions = std::move(of_encoder);
  decoder_positions = std::move(of_decoder);
  config = changed;
}

template <class T>
Parameters<T> Translator<T>::parameters() {
  Parameters<T> list;
  embedding.append_parameters(list, "embedding.");
  encoder_positions.append_parameters(list, "encoder_positions.");
  decoder_positions.append_parameters(list, "decoder_positions.");
  encoder.append_parameters(list, "encoder.");
  decoder.append_parameters(list, "decoder.");
  this->append_output(list);
  if (pointer) pointer->append_parameters(list, "pointer.");
  return list;
}

template <class T>
Parameters<const T> Translator<T>::parameters() const {
  return for_reading(const_cast<Translator*>(this)->parameters());
}

template struct Translator<float>;
template struct Translator<double>;

}  // namespace sextant
