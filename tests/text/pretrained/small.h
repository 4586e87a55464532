// Small tokenizer.json files for tests.
#pragma once

#include <string>

#include "sextant/text/pretrained_tokenizer.h"

namespace sextant {

// A tokenizer.json of these parts; parts that are empty are not there.
struct SmallTokenizer {
  std::string model = R"({"type": "WordLevel", "vocab": {"[UNK]": 0, "a": 1, "b": 2},
                          "unk_token": "[UNK]"})";
  std::string normalizer = {};
  std::string pre_tokenizer = {};
  std::string post_processor = {};
  std::string decoder = {};
  std::string added_tokens = {};
  std::string more = {};  // keys and values

  std::string json() const {
    std::string text = R"({"version": "1.0")";
    const auto add = [&text](const char* key, const std::string& value) {
      if (!value.empty()) text += std::string(", \"") + key + "\": " + value;
    };
    add("normalizer", normalizer);
    add("pre_tokenizer", pre_tokenizer);
    add("post_processor", post_processor);
    add("decoder", decoder);
    add("added_tokens", added_tokens);
    add("model", model);
    return text + (more.empty() ? "" : ", " + more) + "}";
  }
  PretrainedTokenizer make() const { return PretrainedTokenizer::parse(json(), "t.json"); }
};

}  // namespace sextant
