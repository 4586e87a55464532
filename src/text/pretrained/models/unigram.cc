// Unigram: the pieces whose scores have the largest sum (Viterbi).
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/text/utf8.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "text/pretrained/models/piece_model.h"

namespace sextant::text {
namespace {

constexpr double kUnknownPenalty = 10;
// The work is the product of this and of the length of a part.
constexpr std::size_t kLongestPiece = 1024;

// A score as serde_json, which tokenizers reads its files with, makes it of the shortest digits:
// the last bit may be another one, and with it the better of two ways that are equal on paper.
double as_serde_reads(double score) {
  if (!std::isfinite(score)) return score;
  const std::string text = shortest(std::abs(score));  // "0.012", "12", "1.2e-07"
  std::uint64_t digits = 0;
  int exponent = 0;
  bool fraction = false;
  std::size_t at = 0;
  for (; at < text.size() && text[at] != 'e'; ++at) {
    if (text[at] == '.') {
      fraction = true;
      continue;
    }
    digits = digits * 10 + static_cast<std::uint64_t>(text[at] - '0');
    exponent -= fraction ? 1 : 0;
  }
  if (at < text.size()) exponent += static_cast<int>(parse_int64(text.substr(at + 1), "exponent"));
  if (std::abs(exponent) > 22) return score;  // their powers of ten are exact up to there
  const double power = std::pow(10.0, std::abs(exponent));
  const auto whole = static_cast<double>(digits);
  return std::copysign(exponent < 0 ? whole / power : whole * power, score);
}

class Unigram : public PieceModel {
 public:
  explicit Unigram(const Field& field) {
    field.allow_keys({"type", "unk_id", "vocab", "byte_fallback"});
    double smallest = std::numeric_limits<double>::infinity();
    field["vocab"].each_element([&](const Field& each) {
      const std::vector<Field> both = each.elements();
      if (both.size() != 2 || !both[1].json().is_number()) each.refuse("a token and its score");
      if (both[0].text().size() > kLongestPiece) both[0].refuse("a token of at most 1024 bytes");
      vocabulary_.add(both[0].text(), static_cast<std::uint32_t>(scores_.size()), both[0]);
      scores_.push_back(as_serde_reads(both[1].json().get<double>()));
      smallest = std::min(smallest, scores_.back());
    });
    unknown_score_ = smallest - kUnknownPenalty;
    if (field.has("unk_id")) {
      unknown_ = field["unk_id"].number();
      if (*unknown_ >= scores_.size()) field["unk_id"].refuse("an id of the vocabulary");
    }
    if (field.flag("byte_fallback", false)) bytes_ = ByteFallback(vocabulary_);
    for (std::uint32_t id = 0; id < scores_.size(); ++id) sorted_.push_back(id);
    std::ranges::sort(sorted_, {}, [this](std::uint32_t id) -> const std::string& {
      return *vocabulary_.token(id);
    });
  }

  void encode(std::string_view part, std::vector<Piece>& pieces) const override {
    const std::vector<Node> best = best_paths(part);
    std::vector<Piece> reversed;
    for (std::size_t end = part.size(); end > 0; end = best[end].begin) {
      const Node& node = best[end];
      const bool fused =
          unknown_ && node.id == *unknown_ && !reversed.empty() && reversed.back().id == *unknown_;
      if (fused) {
        reversed.back().begin = node.begin;
      } else {
        reversed.push_back({node.id, node.begin, end});
      }
    }
    std::ranges::reverse(reversed);
    for (const auto& piece : reversed) {
      const std::string_view bytes = part.substr(piece.begin, piece.end - piece.begin);
      const auto id = vocabulary_.find(bytes);
      if (!id && bytes_.has_all(bytes)) {
        for (const char byte : bytes) pieces.push_back({bytes_.id(byte), piece.begin, piece.end});
      } else {
        pieces.push_back({id ? *id : piece.id, piece.begin, piece.end});
      }
    }
  }

 private:
  struct Node {
    std::uint32_t id = 0;
    std::size_t begin = std::string_view::npos;  // none yet
    double score = 0;
  };

  // The best way to each byte that ends a character.
  std::vector<Node> best_paths(std::string_view part) const {
    std::vector<Node> best(part.size() + 1);
    const auto offer = [&](std::size_t begin, std::size_t end, std::uint32_t id, double score) {
      Node& node = best[end];
      const double sum = best[begin].score + score;
      if (node.begin == std::string_view::npos || sum > node.score) node = {id, begin, sum};
    };
    for (std::size_t begin = 0; begin < part.size();) {
      const std::size_t character = first_character(part.substr(begin)).bytes;
      bool has_character = false;
      // The pieces that begin like the rest are one range of the sorted ones.
      auto low = sorted_.begin();
      auto high = sorted_.end();
      for (std::size_t length = 1; begin + length <= part.size() && low < high; ++length) {
        const auto byte_of = [&](std::uint32_t id) {
          const std::string& token = *vocabulary_.token(id);
          return token.size() < length
                     ? -1
                     : static_cast<int>(static_cast<unsigned char>(token[length - 1]));
        };
        const int byte = static_cast<unsigned char>(part[begin + length - 1]);
        low = std::partition_point(low, high, [&](std::uint32_t id) { return byte_of(id) < byte; });
        high =
            std::partition_point(low, high, [&](std::uint32_t id) { return byte_of(id) == byte; });
        if (low < high && vocabulary_.token(*low)->size() == length) {
          offer(begin, begin + length, *low, scores_[*low]);
          has_character = has_character || length == character;
        }
      }
      if (!has_character) {
        if (!unknown_) {
          throw Error("tokenizer.text",
                      "has a character that is not a piece of the tokenizer, which "
                      "has no unk_id for it");
        }
        offer(begin, begin + character, *unknown_, unknown_score_);
      }
      begin += character;
    }
    return best;
  }

  std::vector<double> scores_;  // by id
  std::vector<std::uint32_t> sorted_;
  std::optional<std::uint32_t> unknown_;
  double unknown_score_ = 0;
  ByteFallback bytes_;
};

}  // namespace

std::unique_ptr<PieceModel> read_unigram(const Field& field) {
  return std::make_unique<Unigram>(field);
}

}  // namespace sextant::text
