// Models of SentencePiece inside the tokenizer.json of others, without its library.
#include "text/pretrained/models/piece_model.h"
#include "text/without/missing.h"

namespace sextant::text {

std::unique_ptr<PieceModel> read_sentence_piece(const Field& field) {
  throw_missing(field.file(), "SentencePiece");
}

}  // namespace sextant::text
