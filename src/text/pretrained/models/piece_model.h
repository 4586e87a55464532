// The "model" of a tokenizer.json: a part of the text as pieces of the vocabulary.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "text/pretrained/fields.h"
#include "text/pretrained/models/vocabulary_table.h"

namespace sextant::text {

struct Piece {
  std::uint32_t id = 0;
  std::size_t begin = 0;  // bytes of the part, [begin, end)
  std::size_t end = 0;
};

class PieceModel {
 public:
  virtual ~PieceModel() = default;
  const VocabularyTable& vocabulary() const noexcept { return vocabulary_; }
  // Appends the pieces of a part that is not empty.
  virtual void encode(std::string_view part, std::vector<Piece>& pieces) const = 0;

  // WordPiece, BPE, WordLevel, Unigram or SentencePiece; throws Error for another type.
  static std::unique_ptr<PieceModel> read(const Field& field);

 protected:
  VocabularyTable vocabulary_;
};

// One of each type, as read() makes them.
std::unique_ptr<PieceModel> read_word_piece(const Field& field);
std::unique_ptr<PieceModel> read_word_level(const Field& field);
std::unique_ptr<PieceModel> read_byte_pairs(const Field& field);
std::unique_ptr<PieceModel> read_unigram(const Field& field);
std::unique_ptr<PieceModel> read_sentence_piece(const Field& field);

// The ids of "<0x00>" .. "<0xFF>", for characters that are no pieces.
class ByteFallback {
 public:
  ByteFallback() = default;
  explicit ByteFallback(const VocabularyTable& vocabulary);
  // Appends a piece for each byte; false, and nothing, where one of them has none.
  bool has_all(std::string_view bytes) const;
  std::uint32_t id(char byte) const {
    return static_cast<std::uint32_t>(ids_[static_cast<unsigned char>(byte)]);
  }

 private:
  std::vector<std::int64_t> ids_;
};

}  // namespace sextant::text
