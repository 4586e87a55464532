// The encoder-decoder: pairs through both stacks to the loss, and back.
#include "sextant/models/translator.h"

#include <utility>

#include "layers/attend.h"
#include "layers/ops.h"
#include "models/embed_tokens.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

TransformerConfig checked(const TransformerConfig& config) {
  check_config(config);
  if (config.kind != ModelKind::translator) {
    throw Error("transformer.kind", "must be translator, got " + std::string(name_of(config.kind)));
  }
  return config;
}

template <class T>
TransformerStack<T> make_stack(const TransformerConfig& config, bool encoder) {
  NumpyRandom random(config.seed + (encoder ? 1 : 2));
  return TransformerStack<T>(config.stack(encoder), random);
}

PairBatch one_pair(std::span<const std::int64_t> source, std::span<const std::int64_t> target) {
  PairBatch batch;
  batch.source.assign(source.begin(), source.end());
  batch.source_segments = {0, static_cast<std::int64_t>(source.size())};
  batch.target.tokens.assign(target.begin(), target.end());
  batch.target.segments = {0, static_cast<std::int64_t>(target.size())};
  batch.target.targets.assign(target.size(), -1);
  return batch;
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
Translator<T>::Translator(const TransformerConfig& given)
    : config(checked(given)),
      embedding([&] {
        NumpyRandom random(config.seed);
        return Embedding<T>::random(config.vocabulary, config.width, random);
      }()),
      encoder_positions(config.position_options()),
      decoder_positions(config.position_options()),
      encoder(make_stack<T>(config, true)),
      decoder(make_stack<T>(config, false)) {
  config.positions = encoder_positions.options().schemes;  // as of LanguageModel
  NumpyRandom random(config.seed + 3);
  if (!config.tied) {
    output = std::move(Linear<T>::glorot(config.width, config.vocabulary, random, false).weight);
  }
  if (config.pointer) pointer.emplace(config.width, random);
}

template <class T>
View<const T> Translator<T>::logits_matrix() const {
  return config.tied ? embedding.table().view() : output.view();
}

template <class T>
typename Translator<T>::Forward Translator<T>::forward(const PairBatch& batch, Pass& pass) const {
  batch.check(config.vocabulary);
  layers::check_whole(pass, "translator.batch");
  Forward run;
  run.source_positions =
      std::make_unique<PositionTables<T>>(encoder_positions.tables(batch.source_segments));
  run.target_positions =
      std::make_unique<PositionTables<T>>(decoder_positions.tables(batch.target.segments));
  const View<T> source =
      models::embed_tokens(embedding, *run.source_positions, batch.source, batch.source_segments,
                           batch.source_first_row, run.source_key, pass);
  run.encoder = encoder.forward(
      source, {.segments = batch.source_segments, .positions = run.source_positions.get()}, pass);
  const View<T> target =
      models::embed_tokens(embedding, *run.target_positions, batch.target.tokens,
                           batch.target.segments, batch.target.first_row, run.target_key, pass);
  run.target = target;
  run.decoder = decoder.forward(target,
                                {.segments = batch.target.segments,
                                 .context = run.encoder.y,
                                 .context_segments = batch.source_segments,
                                 .positions = run.target_positions.get()},
                                pass);
  return run;
}

template <class T>
LossSum Translator<T>::loss(const PairBatch& batch, const TokenLossOptions& options,
                            Translator* gradient, Pass& pass) const {
  const auto mark = pass.memory.mark();
  const Forward run = forward(batch, pass);
  View<T> d, dcontext, dmatrix;
  if (gradient != nullptr) {
    d = pass.memory.take<T>(run.decoder.y.shape());
    dcontext = pass.memory.zeros<T>(run.encoder.y.shape());
    dmatrix = config.tied ? gradient->embedding.table().view() : gradient->output.view();
  }
  LossSum sum;
  if (pointer) {
    sum = pointer->loss({run.decoder.y, run.encoder.y, batch.source, batch.target.segments,
                         batch.source_segments, batch.target.targets},
                        logits_matrix(), options, d, dcontext, dmatrix,
                        gradient != nullptr ? &*gradient->pointer : nullptr, pass);
  } else {
    sum = token_loss<T>(run.decoder.y, logits_matrix(), batch.target.targets, options, d, dmatrix,
                        pass);
  }
  if (gradient != nullptr) {
    decoder.backward(run.decoder, d, dcontext, gradient->decoder, &gradient->decoder_positions,
                     pass);
    models::embed_tokens_gradient<T>(embedding, *run.target_positions, batch.target.tokens,
                                     batch.target.segments, run.target_key, d, gradient->embedding,
                                     gradient->decoder_positions, pass);
    encoder.backward(run.encoder, dcontext, {}, gradient->encoder, &gradient->encoder_positions,
                     pass);
    models::embed_tokens_gradient<T>(embedding, *run.source_positions, batch.source,
                                     batch.source_segments, run.source_key, dcontext,
                                     gradient->embedding, gradient->encoder_positions, pass);
  }
  pass.memory.release(mark);
  return sum;
}

template <class T>
typename Translator<T>::Maps Translator<T>::attention_maps(std::span<const std::int64_t> source,
                                                           std::span<const std::int64_t> target,
                                                           Pass& pass) const {
  const auto mark = pass.memory.mark();
  const PairBatch batch = one_pair(source, target);
  const Forward run = forward(batch, pass);
  Maps maps;
  for (std::size_t i = 0; i < encoder.layers.size(); ++i) {
    maps.encoder.push_back(encoder.layers[i].self.weights(run.encoder.layers[i].self.inner, 0));
  }
  for (std::size_t i = 0; i < decoder.layers.size(); ++i) {
    const auto& kept = run.decoder.layers[i];
    maps.decoder.push_back(decoder.layers[i].self.weights(kept.self.inner, 0));
    maps.cross.push_back(decoder.layers[i].cross->weights(kept.cross->inner, 0));
  }
  if (pointer) {
    const View<T> keys = pass.memory.take<T>(run.encoder.y.shape());
    pointer->to_k.forward(run.encoder.y, keys, pass);
    const View<T> logits = pass.memory.zeros<T>({run.decoder.y.size(0), config.vocabulary});
    maps.copied = Tensor<T>({run.decoder.y.size(0), run.encoder.y.size(0)});
    pointer->mix(run.decoder.y, keys, batch.source, logits, maps.copied, pass);
  }
  pass.memory.release(mark);
  return maps;
}

template <class T>
std::vector<Tensor<T>> Translator<T>::layer_logits(std::span<const std::int64_t> source,
                                                   std::span<const std::int64_t> target,
                                                   Pass& pass) const {
  const auto mark = pass.memory.mark();
  const PairBatch batch = one_pair(source, target);
  const Forward run = forward(batch, pass);
  View<T> keys;
  if (pointer) {
    keys = pass.memory.take<T>(run.encoder.y.shape());
    pointer->to_k.forward(run.encoder.y, keys, pass);
  }
  std::vector<View<const T>> streams = {run.target};
  streams.insert(streams.end(), run.decoder.residual.begin(), run.decoder.residual.end());
  std::vector<Tensor<T>> result;
  for (const View<const T>& x : streams) {
    const View<const T> h = decoder.ended(x, pass);
    result.push_back(Tensor<T>::uninitialized({x.size(0), config.vocabulary}));
    ops::linear<T>(h, logits_matrix(), nullptr, result.back().view(), pass.threads);
    if (pointer) pointer->mix(h, keys, batch.source, result.back().view(), {}, pass);
  }
  pass.memory.release(mark);
  return result;
}

template <class T>
void Translator<T>::remove_positions() {
  config.positions = {"none"};
  encoder_positions = SchemePositions<T>(config.position_options());
  decoder_positions = SchemePositions<T>(config.position_options());
}

template <class T>
Parameters<T> Translator<T>::parameters() {
  Parameters<T> list;
  embedding.append_parameters(list, "embedding.");
  encoder_positions.append_parameters(list, "encoder_positions.");
  decoder_positions.append_parameters(list, "decoder_positions.");
  encoder.append_parameters(list, "encoder.");
  decoder.append_parameters(list, "decoder.");
  if (!config.tied) list.push_back({"output.weight", &output, true});
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
