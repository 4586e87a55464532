// Language models: batches through embedding, stack and loss, and back.
#include "sextant/models/language_model.h"

#include <algorithm>
#include <type_traits>

#include "layers/attention/attend.h"
#include "models/stack_pass.h"
#include "sextant/core/error.h"

namespace sextant {
namespace {

// The rows of a batch that are here, one range after the other; empty: all.
template <class T>
std::vector<RowRange> rows_here(const TokenBatch& batch, const TransformerConfig& config,
                                const Pass& pass) {
  batch.check(config.vocabulary, config.token_types);
  if constexpr (!std::is_same_v<T, float>) layers::check_whole(pass, "language_model.batch");
  if (pass.context_parallel == nullptr) return {};
  return pass.context_parallel->rows(std::ssize(batch.tokens));
}

// Returns the local part of an array with an element per token of the batch.
std::vector<std::int64_t> rows_of(const std::vector<std::int64_t>& all,
                                  std::span<const RowRange> rows) {
  if (rows.empty() || all.empty()) return all;
  std::vector<std::int64_t> here;
  for (const auto& [first, count] : rows) {
    here.insert(here.end(), all.begin() + first, all.begin() + first + count);
  }
  return here;
}

// A batch that is here as a whole; borrows it.
template <class T>
models::PackedTokens<T> all_of(const TokenBatch& batch, const TransformerConfig& config,
                               const Pass& pass, const char* where) {
  layers::check_whole(pass, where);
  batch.check(config.vocabulary, config.token_types);
  return {.tokens = batch.tokens,
          .segments = batch.segments,
          .first_row = batch.first_row,
          .types = batch.types};
}

template <class T>
models::TokenStack<T> token_stack(const LanguageModel<T>& model) {
  return {model.embedding, model.config.embedding_factor(), model.positions, model.stack,
          model.type_rows.view()};
}

}  // namespace

template <class T>
LanguageModel<T>::LanguageModel(const TransformerConfig& given, std::optional<UnsetWeights> unset)
    : TokenModel<T>(given, false, unset), positions(config.position_options()), stack([&] {
        NumpyRandom random(config.seed + 1);
        return TransformerStack<T>(config.stack(config.kind == ModelKind::masked),
                                   unset ? FirstWeights(*unset) : FirstWeights(random));
      }()) {
  // The current weights may differ from the config.
  config.schemes = positions.options().schemes;
  for (std::size_t i = 0; i < config.layer_schemes.size(); ++i) {
    config.layer_schemes[i].schemes = positions.options().other_kinds[i];
  }
  NumpyRandom random(config.seed + 2);
  const FirstWeights weights = unset ? FirstWeights(*unset) : FirstWeights(random);
  this->start_output(weights);
  if (config.token_types == 1) return;
  type_rows =
      weights.template tensor<T>({config.token_types - 1, config.width},
                                 [](NumpyRandom& numbers) { return 0.02 * numbers.normal(); });
}

template <class T>
LossSum LanguageModel<T>::loss(const TokenBatch& batch, const TokenLossOptions& options,
                               LanguageModel* gradient, Pass& pass) const {
  const Workspace::Scope scope(pass.memory);
  const auto rows = rows_here<T>(batch, config, pass);
  const auto tokens = rows_of(batch.tokens, rows), targets = rows_of(batch.targets, rows),
             types = rows_of(batch.types, rows);
  const models::PackedTokens<T> from{.tokens = tokens,
                                     .segments = batch.segments,
                                     .first_row = batch.first_row,
                                     .rows = rows,
                                     .types = types};
  if (gradient == nullptr) {
    View<const T> y = models::infer<T>(token_stack(*this), from, pass);
    if (this->transform) y = this->transform->forward(y, pass).y;
    return token_loss<T>(y, logits_matrix(), targets, options, {}, {}, pass, this->logit_options());
  }
  const models::StackPass<T> run(token_stack(*this), from, pass);
  const View<T> d = pass.memory.take<T>(run.y().shape());
  typename HeadTransform<T>::Saved transformed{.x = {}, .before = {}, .norm = {}, .y = run.y()};
  if (this->transform) transformed = this->transform->forward(run.y(), pass);
  const LossSum sum =
      token_loss<T>(transformed.y, logits_matrix(), targets, options, d,
                    gradient->output_gradient(), pass, this->logit_options(),
                    gradient->output_bias.count() > 0 ? gradient->output_bias.data() : nullptr);
  if (this->transform) this->transform->backward(transformed, d, *gradient->transform, pass);
  run.backward(d, {}, gradient->embedding, gradient->positions, gradient->stack, pass,
               gradient->type_rows.view());
  return sum;
}

template <class T>
Tensor<double> LanguageModel<T>::log_likelihoods(const TokenBatch& batch, Pass& pass) const {
  const auto from = all_of<T>(batch, config, pass, "log_likelihoods.batch");
  const Workspace::Scope scope(pass.memory);
  View<const T> y = models::infer<T>(token_stack(*this), from, pass);
  if (this->transform) y = this->transform->forward(y, pass).y;
  return token_log_likelihoods<T>(y, logits_matrix(), batch.targets, pass, this->logit_options());
}

template <class T>
Tensor<T> LanguageModel<T>::logits(const TokenBatch& batch, std::span<const std::int64_t> places,
                                   Pass& pass) const {
  const auto from = all_of<T>(batch, config, pass, "logits.batch");
  const auto count = static_cast<std::int64_t>(batch.tokens.size());
  for (const std::int64_t place : places) {
    if (place < 0 || place >= count) {
      throw Error("logits.places",
                  "must be 0 .. " + std::to_string(count - 1) + ", got " + std::to_string(place));
    }
  }
  const Workspace::Scope scope(pass.memory);
  const View<const T> y = models::infer<T>(token_stack(*this), from, pass);
  auto result =
      Tensor<T>::uninitialized({static_cast<std::int64_t>(places.size()), config.vocabulary});
  for (std::size_t i = 0; i < places.size(); ++i) {
    this->make_logits(y.narrow(0, places[i], 1),
                      result.view().narrow(0, static_cast<std::int64_t>(i), 1), pass);
  }
  return result;
}

template <class T>
std::vector<Tensor<T>> LanguageModel<T>::layer_logits(std::span<const std::int64_t> tokens,
                                                      Pass& pass) const {
  const TokenBatch batch = TokenBatch::of(tokens);
  const auto from = all_of<T>(batch, config, pass, "layer_logits.tokens");
  const Workspace::Scope scope(pass.memory);
  (void)logits_matrix();  // throws where there are none
  return models::layer_logits<T>(
      token_stack(*this), from, pass,
      [&](View<const T> h, View<T> logits) { this->make_logits(h, logits, pass); });
}

template <class T>
std::vector<Tensor<T>> LanguageModel<T>::hidden_states(std::span<const std::int64_t> tokens,
                                                       Pass& pass,
                                                       std::span<const std::int64_t> types) const {
  const TokenBatch batch = TokenBatch::of(tokens, types);
  const auto from = all_of<T>(batch, config, pass, "hidden_states.tokens");
  const Workspace::Scope scope(pass.memory);
  std::vector<Tensor<T>> states;
  const View<const T> y = models::infer<T>(token_stack(*this), from, pass,
                                           {.residual = models::states_into<T>(states)});
  states.back() = copy_of(y);
  return states;
}

template <class T>
Tensor<T> LanguageModel<T>::last_hidden_states(const TokenBatch& batch, Pass& pass) const {
  const auto from = all_of<T>(batch, config, pass, "last_hidden_states.batch");
  const Workspace::Scope scope(pass.memory);
  const View<const T> y = models::infer<T>(token_stack(*this), from, pass);
  auto states = Tensor<T>::uninitialized(y.shape());
  std::copy_n(y.data(), y.count(), states.data());
  return states;
}

template <class T>
std::vector<Tensor<T>> LanguageModel<T>::attention_maps(std::span<const std::int64_t> tokens,
                                                        Pass& pass, const MapSelection& chosen,
                                                        std::span<const std::int64_t> types) const {
  const TokenBatch batch = TokenBatch::of(tokens, types);
  const auto from = all_of<T>(batch, config, pass, "attention_maps.tokens");
  const Workspace::Scope scope(pass.memory);
  std::vector<Tensor<T>> maps;
  models::infer<T>(token_stack(*this), from, pass, models::weights_into<T>(stack, chosen, &maps));
  return maps;
}

template <class T>
void LanguageModel<T>::replace_schemes(const SchemeSpecs& schemes,
                                       std::span<const std::int64_t> layers) {
  const TransformerConfig changed = with_schemes(config, schemes, layers);
  PositionModule<T> other(changed.position_options());
  Parameters<T> now, before;
  other.append_parameters(now, "");
  positions.append_parameters(before, "");
  // Kinds without a layer that is left are gone, and with them their weights, "2.t5.table".
  for (std::size_t kind = 0; kind < config.layer_schemes.size() && !now.empty(); ++kind) {
    const auto& own = config.layer_schemes[kind].layers;
    const bool is_gone = std::ranges::all_of(
        own, [&](std::int64_t layer) { return std::ranges::count(layers, layer) > 0; });
    const std::string prefix = std::to_string(kind + 1) + ".";
    if (is_gone) std::erase_if(before, [&](auto& each) { return each.name.starts_with(prefix); });
  }
  for (std::size_t i = 0; i < now.size(); ++i) *now[i].tensor = std::move(*before.at(i).tensor);
  positions = std::move(other);
  config = changed;
  stack.options.kinds = changed.stack(config.kind == ModelKind::masked).kinds;
}

template <class T>
Parameters<T> LanguageModel<T>::parameters() {
  Parameters<T> list;
  embedding.append_parameters(list, "embedding.");
  positions.append_parameters(list, "positions.");
  if (type_rows.count() > 0) list.push_back({"type_rows", &type_rows, false});
  stack.append_parameters(list, "stack.");
  this->append_output(list);
  return list;
}

template <class T>
Parameters<const T> LanguageModel<T>::parameters() const {
  return for_reading(const_cast<LanguageModel*>(this)->parameters());
}

template struct LanguageModel<float>;
template struct LanguageModel<double>;

}  // namespace sextant
