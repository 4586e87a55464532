// Logits, hidden states and attention maps of a language model as arrays.
#include <algorithm>
#include <numeric>

#include "arrays.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/text_model.h"
#include "sextant/core/error.h"
#include "sextant/figures/model_attention.h"

namespace sextant::python {
namespace {

// Types of the tokens, of the same shape as their ids, or None.
std::vector<std::int64_t> read_types(const Argument& types, const Shape& shape,
                                     const PyTextModel& self) {
  if (types.is_none()) return {};
  const auto [read, own] = read_batch(types);
  if (own != shape) {
    throw Error(types.where(), "must have the shape of the ids, " + shape.to_string() + ", got " +
                                   own.to_string());
  }
  const IntegerRange range{0, self.model->config.token_types - 1};
  for (const std::int64_t type : read.tokens) check_range(range, types.where(), type);
  return read.tokens;
}

}  // namespace

nb::object logits(const PyTextModel& self, nb::handle given, nb::handle types, nb::handle threads) {
  auto read = read_batch({given, "logits", "ids"});
  TokenBatch& batch = read.first;
  const Shape& shape = read.second;
  batch.types = read_types({types, "logits", "types"}, shape, self);
  std::vector<std::int64_t> places(batch.tokens.size());
  std::iota(places.begin(), places.end(), 0);
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "logits", "threads"}.threads()};
  auto result = unlocked([&] { return self.model->logits(batch, places, pass); });
  if (shape.rank() == 1) return to_python(std::move(result));
  auto shaped = Tensor<float>::uninitialized({shape[0], shape[1], result.size(1)});
  std::ranges::copy(result.span(), shaped.data());
  return to_python(std::move(shaped));
}

nb::object hidden_states(const PyTextModel& self, nb::handle ids, nb::handle types,
                         nb::handle threads) {
  const auto tokens = read_tokens({ids, "hidden_states", "ids"}, self.model->config.vocabulary);
  const auto of_tokens = read_types({types, "hidden_states", "types"}, {std::ssize(tokens)}, self);
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "hidden_states", "threads"}.threads()};
  const auto states = unlocked([&] { return self.model->hidden_states(tokens, pass, of_tokens); });
  const Shape& one = states.at(0).shape();
  auto all = Tensor<float>::uninitialized({std::ssize(states), one[0], one[1]});
  float* to = all.data();
  for (const Tensor<float>& each : states) to = std::ranges::copy(each.span(), to).out;
  return to_python(std::move(all));
}

nb::object attention_maps(const PyTextModel& self, nb::handle ids, nb::handle types,
                          nb::handle layers, nb::handle heads, nb::handle rows,
                          nb::handle threads) {
  const auto tokens = read_tokens({ids, "attention_maps", "text"}, self.model->config.vocabulary);
  const auto of_tokens = read_types({types, "attention_maps", "types"}, {std::ssize(tokens)}, self);
  const auto of_layers = Argument{layers, "attention_maps", "layers"}.integers();
  const auto of_heads = Argument{heads, "attention_maps", "heads"}.integers();
  const auto of_rows = Argument{rows, "attention_maps", "rows"}.integers();
  const MapSelection chosen{.layers = of_layers, .heads = of_heads, .rows = of_rows};
  Workspace memory;
  Pass pass{.memory = memory, .threads = Argument{threads, "attention_maps", "threads"}.threads()};
  const auto maps =
      unlocked([&] { return self.model->attention_maps(tokens, pass, chosen, of_tokens); });
  return stacked(maps);
}

nb::object hidden_pairs(const PyTextModel& self, std::int64_t length, nb::handle layers) {
  const TransformerConfig& config = self.model->config;
  const std::vector<std::size_t>& kinds = self.model->stack.options.kinds;
  const auto of_kind = [&](std::size_t kind) {
    return figures::hidden_pairs(self.model->positions, config.heads, length,
                                 config.kind == ModelKind::causal, kind);
  };
  if (kinds.empty()) return as_flags(of_kind(0));
  auto chosen = Argument{layers, "attention_maps", "layers"}.integers();
  if (chosen.empty()) {
    chosen.resize(kinds.size());
    std::iota(chosen.begin(), chosen.end(), 0);
  }
  Tensor<double> all({std::ssize(chosen), config.heads, length, length});
  double* to = all.data();
  for (const std::int64_t layer : chosen) {
    const Tensor<double> one = of_kind(kinds.at(static_cast<std::size_t>(layer)));
    to = std::ranges::copy(one.span(), to).out;
  }
  return as_flags(all);
}

}  // namespace sextant::python
