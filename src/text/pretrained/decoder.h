// The "decoder" of a tokenizer.json: tokens as text.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/pretrained/fields.h"

namespace sextant::text {

class Decoder {
 public:
  Decoder() = default;  // one space between tokens
  // WordPiece, ByteLevel, Metaspace, BPEDecoder, ByteFallback, Fuse, Strip, Replace and Sequence;
  // throws Error for another type.
  static Decoder read(const Field& field);

  std::string decode(std::vector<std::string> tokens) const;
  bool is_byte_level() const noexcept { return is_byte_level_; }

 private:
  void add(const Field& field);

  bool joins_ = false;
  bool is_byte_level_ = false;
  std::vector<std::function<void(std::vector<std::string>&)>> steps_;
};

}  // namespace sextant::text
