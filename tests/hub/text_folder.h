// Tiny models of tests/hub/golden with a tokenizer of as many words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hub/golden_model.h"

namespace sextant {

// Words "w0" .. "w(count - 1)".
inline std::string words(std::int64_t count, const std::string& processor = "null") {
  Json vocabulary = Json::object();
  for (std::int64_t i = 0; i < count; ++i) vocabulary["w" + std::to_string(i)] = i;
  return R"({"version": "1.0", "pre_tokenizer": {"type": "Whitespace"}, "post_processor": )" +
         processor + R"(, "model": {"type": "WordLevel", "unk_token": "w0", "vocab": )" +
         vocabulary.dump() + "}}";
}

struct TextFolder : ChangedModel {
  explicit TextFolder(const std::string& name, const std::string& tokenizer = words(48))
      : ChangedModel(name) {
    write_file(path("tokenizer.json"), tokenizer);
  }
};

// Of what transformers computes of the model: "ids", "greedy".
inline std::vector<std::int64_t> integers(const std::string& name, const char* what) {
  const auto all = load_safetensors(golden_folder(name) + "/expected.safetensors");
  const auto found = all.tensors.at(what).to<std::int64_t>();
  return {found.span().begin(), found.span().end()};
}

}  // namespace sextant
