// Runs the "pre_tokenizer" of a tokenizer.json, which divides a text into parts for tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "text/pretrained/aligned_text.h"
#include "text/pretrained/fields.h"

namespace sextant::text {

// Parts [begin, end) of a text. An added token is a part with its id and is unchanged.
struct Part {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t added = -1;
};
struct Parts {
  AlignedText text;
  std::vector<Part> parts;
};

class PreTokenizer {
 public:
  PreTokenizer() = default;  // leaves parts whole
  // BertPreTokenizer, ByteLevel, Whitespace, WhitespaceSplit, Punctuation, Digits, Split,
  // Metaspace, CharDelimiterSplit and Sequence; throws Error for another type.
  static PreTokenizer read(const Field& field);

  void apply(Parts& parts) const {
    for (const auto& step : steps_) step(parts);
  }

 private:
  void add(const Field& field);
  void add_byte_level(const Field& field);
  void add_metaspace(const Field& field);

  std::vector<std::function<void(Parts&)>> steps_;
};

}  // namespace sextant::text
