// Makes models here: of a config with its first weights, or with given arrays.
#include <nanobind/stl/string.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "bindings.h"
#include "calls.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "models/models.h"
#include "models/watch.h"
#include "sextant/core/error.h"

namespace sextant::python {
namespace {

// What a new model has besides its config; errors are those of `call`, "LanguageModel".
struct NewModel {
  nb::handle tokenizer, weights;
  std::string call;
};

// Calls make(unset): with weights of the config's seed, or with given ones.
template <class Make>
auto with_weights(const NewModel& given, const Make& make) {
  using Model = decltype(make(std::nullopt));
  if (given.weights.is_none()) {
    return std::make_shared<Model>(unlocked([&] { return make(std::nullopt); }));
  }
  return std::make_shared<Model>(
      make_filled([&](UnsetWeights unset) { return make(unset); },
                  [&](const Parameters<float>& to) {
                    const Argument argument{given.weights, given.call, "weights"};
                    const auto from = read_arrays(argument, to);
                    for (std::size_t i = 0; i < to.size(); ++i) {
                      std::ranges::copy(from[i].span(), to[i].tensor->data());
                    }
                  }));
}

// The vocabulary is the tokenizer's, unless the config says one: it must then be that.
template <class Model>
auto of_text(const TransformerConfig& config, const Tokenizer& tokenizer, const NewModel& given) {
  auto model = with_weights(given, [&](std::optional<UnsetWeights> unset) {
    return WithTokenizer<Model>(config, tokenizer, unset);
  });
  const std::int64_t tokens = model->config.vocabulary;
  if (config.vocabulary == 0 || config.vocabulary == tokens) return model;
  throw Error(given.call + ".vocabulary", "must be the tokenizer's " + std::to_string(tokens) +
                                              ", got " + std::to_string(config.vocabulary));
}

nb::object make_model(TransformerConfig config, const NewModel& given) {
  const bool translates = config.kind == ModelKind::translator;
  if (!given.tokenizer.is_none()) {
    const Tokenizer* tokenizer = nullptr;
    if (!nb::try_cast(given.tokenizer, tokenizer) || tokenizer == nullptr) {
      throw_type_error({given.tokenizer, given.call, "tokenizer"}, "a sextant.Tokenizer or None");
    }
    if (translates) {
      auto model = of_text<Translator<float>>(config, *tokenizer, given);
      return nb::cast(PyTranslator{std::make_shared<LineTranslator>(std::move(*model))});
    }
    return nb::cast(PyTextModel(of_text<LanguageModel<float>>(config, *tokenizer, given)));
  }
  if (translates) throw Error(given.call + ".tokenizer", "must be given for a translator");
  if (config.vocabulary == 0) {
    throw Error(given.call + ".vocabulary", "must be given for a model without a tokenizer");
  }
  return nb::cast(PyTextModel(with_weights(given, [&](std::optional<UnsetWeights> unset) {
    return LanguageModel<float>(config, unset);
  })));
}

nb::object new_model(const std::string& kind, const nb::dict& schemes, const nb::dict& options,
                     nb::handle tokenizer, nb::handle weights, const std::string& call) {
  TransformerConfig config{.kind = parse_name<ModelKind>(kind, "kind")};
  visit_config(config, taking({options, call}));
  const nb::object own = schemes["scheme"], of_layers = schemes["layer_schemes"],
                   of_decoder = schemes["decoder_scheme"];
  config.schemes = read_positions({own, call, "scheme"});
  config.layer_schemes = read_layers({of_layers, call, "layer_schemes"});
  config.decoder_schemes = read_positions({of_decoder, call, "decoder_scheme"});
  return make_model(std::move(config), {tokenizer, weights, call});
}

nb::object model_of_config(const std::string& json, nb::handle tokenizer, nb::handle weights) {
  return make_model(parse_config(json, "from_config.config"), {tokenizer, weights, "from_config"});
}

}  // namespace

void bind_new_models(nb::module_& module) {
  module.def("new_model", &new_model, nb::arg("kind"), nb::arg("schemes"), nb::arg("options"),
             nb::arg("tokenizer").none(), nb::arg("weights").none(), nb::arg("call"),
             nb::sig("def new_model(kind: str, schemes: dict[str, typing.Any], options: dict[str, "
                     "typing.Any], tokenizer: object, weights: object, call: str) -> typing.Any"));
  module.def("model_of_config", &model_of_config, nb::arg("config"), nb::arg("tokenizer").none(),
             nb::arg("weights").none(),
             nb::sig("def model_of_config(config: str, tokenizer: object, weights: object) -> "
                     "typing.Any"));
}

}  // namespace sextant::python
