// Runs SentencePiece: its library normalises a part and divides it, and a separate vocabulary
// numbers the pieces. Marian's files are read as this; no tokenizer.json of others has the type.
#include <sentencepiece_processor.h>

#include <algorithm>
#include <string>

#include "core/text/base64.h"
#include "sextant/core/error.h"
#include "text/libraries/subword_library.h"
#include "text/libraries/subword_model.h"
#include "text/pretrained/models/piece_model.h"

namespace sextant::text {
namespace {

class SentencePieces : public PieceModel {
 public:
  explicit SentencePieces(const Field& field) {
    field.allow_keys({"type", "unk_token", "vocab", "model"});
    vocabulary_ = VocabularyTable::read(field["vocab"]);
    const auto unknown = vocabulary_.find(field.text("unk_token"));
    if (!unknown) field["unk_token"].refuse("a token of the vocabulary");
    unknown_ = *unknown;
    const Field model = field["model"];
    const auto bytes = from_base64(model.text());
    if (!bytes) model.refuse("base64");
    const std::string where = std::string(model.file()) + ", " + model.place();
    const std::string checked = checked_model(*bytes, where);
    silence_sentencepiece();
    check(processor_.LoadFromSerializedProto(checked), where);
  }

  void encode(std::string_view part, std::vector<Piece>& pieces) const override {
    constexpr std::size_t kLongest = std::size_t{1} << 28;  // its lengths are of 32 bits
    if (part.size() > kLongest) {
      throw Error("tokenizer.text",
                  "must be at most 268435456 bytes long, got " + std::to_string(part.size()));
    }
    sentencepiece::ImmutableSentencePieceText found;
    check(processor_.Encode(part, found.mutable_proto()), "tokenizer.text");
    for (const auto& each : found.pieces()) {
      const auto id = vocabulary_.find(each.piece());
      // The space before a text is a piece of no bytes.
      const std::size_t begin = std::min<std::size_t>(each.begin(), part.size() - 1);
      const std::size_t end = std::max<std::size_t>(begin + 1, each.end());
      pieces.push_back({id ? *id : unknown_, begin, end});
    }
  }

 private:
  static void check(const sentencepiece::util::Status& status, std::string_view where) {
    if (!status.ok()) throw Error(where, "SentencePiece reports: " + complaint(status));
  }

  sentencepiece::SentencePieceProcessor processor_;
  std::uint32_t unknown_ = 0;
};

}  // namespace

std::unique_ptr<PieceModel> read_sentence_piece(const Field& field) {
  return std::make_unique<SentencePieces>(field);
}

}  // namespace sextant::text
