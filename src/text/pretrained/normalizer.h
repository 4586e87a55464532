// The "normalizer" of a tokenizer.json.
#pragma once

#include <functional>
#include <vector>

#include "text/pretrained/aligned_text.h"
#include "text/pretrained/fields.h"

namespace sextant::text {

class Normalizer {
 public:
  Normalizer() = default;  // changes nothing
  // BertNormalizer, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Replace, Prepend, Nmt,
  // ByteLevel, Precompiled and Sequence; throws Error for another type.
  static Normalizer read(const Field& field);

  void apply(AlignedText& text) const {
    for (const auto& step : steps_) step(text);
  }

 private:
  void add(const Field& field);

  std::vector<std::function<void(AlignedText&)>> steps_;
};

}  // namespace sextant::text
