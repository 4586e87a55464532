// Chooses the model, and the two that look words up: WordPiece and WordLevel.
#include "text/pretrained/models/piece_model.h"

#include <algorithm>
#include <string>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant::text {
namespace {

// The largest length of a word: the work is quadratic in it.
constexpr std::uint32_t kLongestWord = 1000;

[[noreturn]] void no_unknown(std::string_view token) {
  throw Error("tokenizer.text",
              "has a part that is not a piece of the tokenizer, whose vocabulary "
              "has no " +
                  printable_quote(token) + " for it");
}

class WordPiece : public PieceModel {
 public:
  explicit WordPiece(const Field& field)
      : unknown_(field.text("unk_token")), prefix_(field.text("continuing_subword_prefix")) {
    field.allow_keys(
        {"type", "unk_token", "continuing_subword_prefix", "max_input_chars_per_word", "vocab"});
    longest_word_ = field["max_input_chars_per_word"].number();
    if (longest_word_ > kLongestWord) {
      field["max_input_chars_per_word"].refuse("an integer of 0 .. 1000");
    }
    vocabulary_ = VocabularyTable::read(field["vocab"]);
    unknown_id_ = vocabulary_.find(unknown_);
  }

  // The longest piece that the word begins with, again and again; all or nothing.
  void encode(std::string_view word, std::vector<Piece>& pieces) const override {
    const std::size_t before = pieces.size();
    const auto unknown = [&] {
      if (!unknown_id_) no_unknown(unknown_);
      pieces.resize(before);
      pieces.push_back({*unknown_id_, 0, word.size()});
    };
    if (count_characters(word) > longest_word_) return unknown();
    std::string candidate;
    for (std::size_t begin = 0; begin < word.size();) {
      const std::string_view prefix = begin > 0 ? std::string_view(prefix_) : std::string_view();
      if (vocabulary_.longest() < prefix.size()) return unknown();
      std::size_t end =
          begin + std::min(word.size() - begin, vocabulary_.longest() - prefix.size());
      while (end > begin && end < word.size() && continues_character(word[end])) --end;
      std::optional<std::uint32_t> id;
      candidate = prefix;
      candidate += word.substr(begin, end - begin);
      while (end > begin && !(id = vocabulary_.find(candidate))) {
        do {
          --end;
          candidate.pop_back();
        } while (end > begin && continues_character(word[end]));
      }
      if (!id) return unknown();
      pieces.push_back({*id, begin, end});
      begin = end;
    }
  }

 private:
  std::string unknown_;
  std::string prefix_;
  std::uint32_t longest_word_;
  std::optional<std::uint32_t> unknown_id_;
};

class WordLevel : public PieceModel {
 public:
  explicit WordLevel(const Field& field) : unknown_(field.text("unk_token")) {
    field.allow_keys({"type", "vocab", "unk_token"});
    vocabulary_ = VocabularyTable::read(field["vocab"]);
    unknown_id_ = vocabulary_.find(unknown_);
  }
  void encode(std::string_view word, std::vector<Piece>& pieces) const override {
    const auto id = vocabulary_.find(word);
    if (!id && !unknown_id_) no_unknown(unknown_);
    pieces.push_back({id ? *id : *unknown_id_, 0, word.size()});
  }

 private:
  std::string unknown_;
  std::optional<std::uint32_t> unknown_id_;
};

}  // namespace

std::unique_ptr<PieceModel> read_word_piece(const Field& field) {
  return std::make_unique<WordPiece>(field);
}
std::unique_ptr<PieceModel> read_word_level(const Field& field) {
  return std::make_unique<WordLevel>(field);
}

std::unique_ptr<PieceModel> PieceModel::read(const Field& field) {
  // The oldest files have no type; their models are BPE.
  if (!field.has("type")) return read_byte_pairs(field);
  switch (field["type"].choice({"WordPiece", "WordLevel", "BPE", "Unigram", "SentencePiece"})) {
    case 0:
      return read_word_piece(field);
    case 1:
      return read_word_level(field);
    case 2:
      return read_byte_pairs(field);
    case 3:
      return read_unigram(field);
    default:
      return read_sentence_piece(field);
  }
}

ByteFallback::ByteFallback(const VocabularyTable& vocabulary) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (int byte = 0; byte < 256; ++byte) {
    const auto id = vocabulary.find({"<0x" + std::string{kHex[byte / 16], kHex[byte % 16]} + ">"});
    ids_.push_back(id ? std::int64_t{*id} : -1);
  }
}

bool ByteFallback::has_all(std::string_view bytes) const {
  return !ids_.empty() && std::ranges::all_of(bytes, [this](char byte) {
    return ids_[static_cast<unsigned char>(byte)] >= 0;
  });
}

}  // namespace sextant::text
