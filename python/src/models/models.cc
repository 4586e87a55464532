// Implements what the bindings of models share.
#include "models/models.h"
#include "models/watch.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "sextant/text/libraries.h"

namespace sextant::python {

TextTranslator& first_alone(const PyTranslator& translator, const std::string& call) {
  const std::size_t models = translator.lines->models().size();
  if (models == 1) return translator.first();
  throw Error(call + ".model",
              "must be one translator, got an ensemble of " + std::to_string(models));
}

std::vector<std::int64_t> read_tokens(const Argument& ids, std::int64_t vocabulary) {
  auto tokens = ids.integers();
  if (tokens.empty()) throw Error(ids.where(), "must have at least one token, got none");
  for (const std::int64_t token : tokens) {
    if (token >= 0 && token < vocabulary) continue;
    throw Error(ids.where(), "must be 0 .. " + std::to_string(vocabulary - 1) + ", got " +
                                 std::to_string(token));
  }
  return tokens;
}

std::pair<TokenBatch, Shape> read_batch(const Argument& argument) {
  const InputArray ids(argument);
  const int rank = ids.shape().rank();
  if (is_float(ids.dtype()) || rank < 1 || rank > 2) {
    throw Error(argument.where(), "must be whole numbers [tokens] or [batch, tokens], got " +
                                      std::string(dtype_name(ids.dtype())) + " " +
                                      ids.shape().to_string());
  }
  const Tensor<std::int64_t> all = ids.copy().to<std::int64_t>();
  const std::int64_t count = all.span().size(), length = all.size(rank - 1);
  if (count == 0) {
    throw Error(argument.where(), "must have a token, got " + ids.shape().to_string());
  }
  TokenBatch batch{.tokens = {all.span().begin(), all.span().end()}};
  batch.targets.assign(batch.tokens.size(), -1);
  for (std::int64_t end = 0; end <= count; end += length) batch.segments.push_back(end);
  return {std::move(batch), ids.shape()};
}

nb::dict arrays_of(const Parameters<float>& parameters, nb::handle owner) {
  nb::dict arrays;
  for (const auto& [name, tensor, decays] : parameters) {
    arrays[name.c_str()] = array_object(tensor->data(), DType::float32, tensor->shape(), owner);
  }
  return arrays;
}

std::vector<Tensor<float>> read_arrays(const Argument& argument,
                                       const Parameters<float>& parameters) {
  const auto given = argument.as<nb::dict>("a dict from names to arrays");
  std::vector<Tensor<float>> arrays;
  for (const auto& [name, tensor, decays] : parameters) {
    const std::string one = std::string(argument.name) + "[" + name + "]";
    if (!given.contains(name.c_str())) {
      throw Error(argument.where(), "must have an array for each weight, got none for " + name);
    }
    const nb::object value = given[name.c_str()];
    const InputArray array({value, argument.scope, one});
    if (!is_float(array.dtype()) || array.shape() != tensor->shape()) {
      throw Error(std::string(argument.scope) + "." + one,
                  "must be floats " + tensor->shape().to_string() + ", got " +
                      std::string(dtype_name(array.dtype())) + " " + array.shape().to_string());
    }
    arrays.push_back(array.copy().to<float>());
  }
  if (nb::len(given) == parameters.size()) return arrays;
  for (const auto& [key, value] : items_of(given)) {
    const std::string name = text_of(key);
    if (std::ranges::find(parameters, name, &Parameter<float>::name) != parameters.end()) continue;
    throw Error(argument.where(), "must be the model's weights, got " + name);
  }
  return arrays;
}

nb::object stacked(const std::vector<Tensor<float>>& layers) {
  const Shape& one = layers.at(0).shape();
  auto all = Tensor<float>::uninitialized(
      {static_cast<std::int64_t>(layers.size()), one[0], one[1], one[2]});
  float* to = all.data();
  for (const Tensor<float>& layer : layers) to = std::ranges::copy(layer.span(), to).out;
  return to_python(std::move(all));
}

nb::object as_flags(const Tensor<double>& hidden) {
  auto flags = Tensor<bool>::uninitialized(hidden.shape());
  std::ranges::transform(hidden.span(), flags.data(), [](double x) { return x == -HUGE_VAL; });
  return to_python(std::move(flags));
}

nb::dict dict_of(const LogitLens& found, const Tokenizer& tokenizer) {
  const auto piece = [&](std::int64_t token) -> nb::object {
    return token < 0 ? nb::none() : nb::object(nb::cast(tokenizer.piece_or_number(token)));
  };
  nb::dict result;
  nb::list tokens, next, layers;
  for (const std::int64_t token : found.read) tokens.append(piece(token));
  for (const std::int64_t token : found.next) next.append(piece(token));
  for (std::size_t layer = 0; layer < found.predictions.size(); ++layer) {
    nb::list probabilities, predictions;
    for (std::size_t row = 0; row < found.read.size(); ++row) {
      probabilities.append(found.next[row] < 0
                               ? nb::none()
                               : nb::object(nb::float_(found.next_probability[layer][row])));
      nb::list best;
      for (const auto& [token, probability] : found.predictions[layer][row]) {
        best.append(nb::make_tuple(piece(token), probability));
      }
      predictions.append(best);
    }
    nb::dict one;
    one["name"] = layer_name(layer);
    one["next_probability"] = probabilities;
    one["predictions"] = predictions;
    layers.append(one);
  }
  result["tokens"] = tokens;
  result["next"] = next;
  result["layers"] = layers;
  return result;
}

const TextModel& PyTextModel::text(const char* call) const {
  if (text_ != nullptr) return *text_;
  throw Error(std::string(call) + ".model",
              "must have a tokenizer, got a model of ids alone, which has logits(ids), "
              "hidden_states(ids) and attention_maps(ids)");
}

void bind_models(nb::module_& module) {
  bind_tokenizer(module);
  bind_load(module);
  bind_text_model(module);
  bind_translator(module);
  bind_new_models(module);
  bind_losses(module);
  bind_optimisers(module);
  module.def("has_text_libraries", &has_text_libraries,
             "Whether ICU, SentencePiece and fastText are in this build.");
}

}  // namespace sextant::python
