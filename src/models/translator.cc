// The encoder-decoder: pairs through both stacks to the loss, and back.
#include "sextant/models/translator.h"

#include "layers/attend.h"
#include "layers/ops.h"
#include "models/stack_pass.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

template <class T>
TransformerStack<T> make_stack(const TransformerConfig& config, bool encoder) {
  NumpyRandom random(config.seed + (encoder ? 1 : 2));
  return TransformerStack<T>(config.stack(encoder), random);
}

PairBatch one_pair(std::span<const std::int64_t> source, std::span<const std::int64_t> target) {
  return {{source.begin(), source.end()}, {0, std::ssize(source)}, TokenBatch::of(target)};
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
    : TokenModel<T>(given, true),
      encoder_positions(config.position_options()),
      decoder_positions(config.position_options()),
      encoder(make_stack<T>(config, true)),
      decoder(make_stack<T>(config, false)) {
  config.positions = encoder_positions.options().schemes;  // as of LanguageModel
  NumpyRandom random(config.seed + 3);
  this->start_output(random);
  if (config.pointer) pointer.emplace(config.width, random);
}

// What a batch needs on the way back; it borrows the batch.
template <class T>
struct Translator<T>::Forward {
  models::StackPass<T> encoder, decoder;

  Forward(const Translator& model, const PairBatch& batch, Pass& pass)
      : encoder(model.embedding, model.encoder_positions, model.encoder,
                source_of(model, batch, pass), pass),
        decoder(model.embedding, model.decoder_positions, model.decoder,
                {batch.target.tokens, batch.target.segments, batch.target.first_row}, pass,
                encoder.y(), batch.source_segments) {}

 private:
  static models::PackedTokens source_of(const Translator& model, const PairBatch& batch,
                                        const Pass& pass) {
    batch.check(model.config.vocabulary);
    layers::check_whole(pass, "translator.batch");
    return {batch.source, batch.source_segments, batch.source_first_row};
  }
};

template <class T>
LossSum Translator<T>::loss(const PairBatch& batch, const TokenLossOptions& options,
                            Translator* gradient, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const Forward run(*this, batch, pass);
  const View<const T> h = run.decoder.y(), context = run.encoder.y();
  View<T> d, dcontext, dmatrix;
  if (gradient != nullptr) {
    d = pass.memory.take<T>(h.shape());
    dcontext = pass.memory.zeros<T>(context.shape());
    dmatrix = gradient->output_gradient();
  }
  LossSum sum;
  if (pointer) {
    sum = pointer->loss({h, context, batch.source, batch.target.segments, batch.source_segments,
                         batch.target.targets},
                        logits_matrix(), options, d, dcontext, dmatrix,
                        gradient != nullptr ? &*gradient->pointer : nullptr, pass);
  } else {
    sum = token_loss<T>(h, logits_matrix(), batch.target.targets, options, d, dmatrix, pass);
  }
  if (gradient != nullptr) {
    run.decoder.backward(d, dcontext, gradient->embedding, gradient->decoder_positions,
                         gradient->decoder, pass);
    run.encoder.backward(dcontext, {}, gradient->embedding, gradient->encoder_positions,
                         gradient->encoder, pass);
  }
  return sum;
}

template <class T>
typename Translator<T>::Maps Translator<T>::attention_maps(std::span<const std::int64_t> source,
                                                           std::span<const std::int64_t> target,
                                                           Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PairBatch batch = one_pair(source, target);
  const Forward run(*this, batch, pass);
  Maps maps{run.encoder.weights(), run.decoder.weights(), run.decoder.weights(true), {}};
  if (pointer) {
    const View<const T> h = run.decoder.y();
    const View<T> logits = pass.memory.zeros<T>({h.size(0), config.vocabulary});
    maps.copied = Tensor<T>({h.size(0), run.encoder.y().size(0)});
    pointer->mix(h, pointer->keys(run.encoder.y(), pass), batch.source, logits, maps.copied, pass);
  }
  return maps;
}

template <class T>
std::vector<Tensor<T>> Translator<T>::layer_logits(std::span<const std::int64_t> source,
                                                   std::span<const std::int64_t> target,
                                                   Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const PairBatch batch = one_pair(source, target);
  const Forward run(*this, batch, pass);
  View<const T> keys;
  if (pointer) keys = pointer->keys(run.encoder.y(), pass);
  return run.decoder.layer_logits(logits_matrix(), pass, [&](View<const T> h, View<T> logits) {
    if (pointer) pointer->mix(h, keys, batch.source, logits, {}, pass);
  });
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
