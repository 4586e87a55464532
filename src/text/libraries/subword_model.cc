// Walks the protocol buffer of a model (sentencepiece_model.proto) field by field. Version 0.1.97
// of the library was read and fuzzed for missing checks; each check here names its purpose.
#include "text/libraries/subword_model.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"
#include "sextant/text/segment.h"
#include "text/charsmap.h"

namespace sextant::text {
namespace {

enum WireType : std::uint32_t { kVarint = 0, kEight = 1, kBytes = 2, kFour = 5 };

struct Field {
  std::uint64_t number = 0;
  std::uint64_t type = 0;
  std::uint64_t value = 0;  // of a varint, or the four bytes of a float
  std::string_view bytes;   // of a length-delimited field
  std::string_view whole;   // tag included
};

// The fields of one message, in order.
class Message {
 public:
  Message(std::string_view bytes, std::string_view where) : rest_(bytes), where_(where) {}

  bool next(Field& field) {
    if (rest_.empty()) return false;
    const std::string_view begin = rest_;
    const std::uint64_t tag = varint();
    field = {.number = tag >> 3, .type = tag & 7, .value = 0, .bytes = {}, .whole = {}};
    if (field.number == 0 || field.number >= std::uint64_t{1} << 29) refuse();
    switch (field.type) {
      case kVarint:
        field.value = varint();
        break;
      case kEight:
        take(8);
        break;
      case kFour:
        for (const char c : std::string_view(take(4))) {
          field.value = field.value >> 8 | std::uint64_t{static_cast<std::uint8_t>(c)} << 24;
        }
        break;
      case kBytes:
        field.bytes = take(varint());
        break;
      default:  // groups, which no model uses
        refuse();
    }
    field.whole = begin.substr(0, begin.size() - rest_.size());
    return true;
  }

  // A field of a known number with another type would be skipped by the library, unchecked.
  void expect(const Field& field, WireType type) const {
    if (field.type != type) refuse();
  }

  [[noreturn]] void refuse() const {
    throw Error(where_, "must be a SentencePiece model, got bytes that cannot be parsed as one");
  }

 private:
  std::string_view take(std::uint64_t count) {
    if (count > rest_.size()) refuse();
    const std::string_view part = rest_.substr(0, static_cast<std::size_t>(count));
    rest_.remove_prefix(part.size());
    return part;
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      if (shift == 63 && byte > 1) break;
      value |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return value;
    }
    refuse();
  }

  std::string_view rest_;
  std::string_view where_;
};

constexpr std::uint64_t kUserDefined = 4;

struct Piece {
  std::string_view text;
  std::uint64_t type = 1;
};

Piece read_piece(std::string_view bytes, std::size_t place, std::string_view where) {
  constexpr std::size_t kLongest = 4096;  // bytes; encoding costs length of text x length of piece
  const std::string at = " at place " + std::to_string(place);
  Piece piece;
  Message message(bytes, where);
  for (Field field; message.next(field);) {
    if (field.number == 1) {
      message.expect(field, kBytes);
      piece.text = field.bytes;
      check_utf8(piece.text, where);
    } else if (field.number == 2) {
      message.expect(field, kFour);
      if (!std::isfinite(std::bit_cast<float>(static_cast<std::uint32_t>(field.value)))) {
        throw Error(where, "must have finite scores, got another for the piece" + at);
      }
    } else if (field.number == 3) {
      message.expect(field, kVarint);
      piece.type = field.value;
      if (piece.type < 1 || piece.type > 6) {
        throw Error(where, "must have piece types 1 .. 6, got " + std::to_string(field.value) + at);
      }
    }
  }
  // Tries are built from zero-terminated strings.
  if (piece.text.empty() || piece.text.size() > kLongest ||
      piece.text.find('\0') != std::string_view::npos) {
    throw Error(where, "must have pieces of 1 .. 4096 bytes without a zero byte, got another" + at);
  }
  return piece;
}

// The library gathers the user-defined pieces that begin at one place of a text in an array of 64.
void check_nesting(std::vector<std::string_view> pieces, std::string_view where) {
  std::sort(pieces.begin(), pieces.end());
  std::vector<std::string_view> prefixes;
  for (const std::string_view piece : pieces) {
    while (!prefixes.empty() && !piece.starts_with(prefixes.back())) prefixes.pop_back();
    prefixes.push_back(piece);
    if (prefixes.size() > 64) {
      throw Error(where, "must have at most 64 user-defined pieces that begin with each other");
    }
  }
}

void check_normalizer(std::string_view bytes, std::string_view where) {
  Message message(bytes, where);
  for (Field field; message.next(field);) {
    if (field.number != 2) continue;
    message.expect(field, kBytes);
    if (!field.bytes.empty()) check_charsmap(field.bytes, where);
  }
}

void check_trainer(std::string_view bytes, std::string_view where) {
  Message message(bytes, where);
  for (Field field; message.next(field);) {
    if (field.number == 3) message.expect(field, kVarint);
    // The names of the special pieces and how an unknown one is written.
    if (field.number >= 44 && field.number <= 48) {
      message.expect(field, kBytes);
      check_utf8(field.bytes, where);
    }
  }
}

}  // namespace

std::string checked_model(std::string_view bytes, std::string_view where) {
  if (bytes.empty()) throw Error(where, "must be a SentencePiece model, got nothing");
  std::string kept;
  kept.reserve(bytes.size());
  std::size_t pieces = 0;
  std::vector<std::string_view> user_defined;
  Message message(bytes, where);
  for (Field field; message.next(field);) {
    constexpr std::uint64_t kSelfTest = 4;
    if (field.number == kSelfTest) continue;
    kept += field.whole;
    if (field.number > 5) continue;
    message.expect(field, kBytes);
    if (field.number == 1) {
      const Piece piece = read_piece(field.bytes, pieces++, where);
      if (piece.type == kUserDefined) user_defined.push_back(piece.text);
    } else if (field.number == 2) {
      check_trainer(field.bytes, where);
    } else {
      check_normalizer(field.bytes, where);
    }
  }
  if (pieces == 0) throw Error(where, "must be a SentencePiece model, got one without pieces");
  check_nesting(std::move(user_defined), where);
  return kept;
}

}  // namespace sextant::text
