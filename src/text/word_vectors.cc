// Word vectors in memory and as a .vec file.
#include "sextant/text/word_vectors.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/text/segment.h"
#include "text/edit_distance.h"
#include "text/line_reader.h"

namespace sextant {
namespace {

using text::LineReader;

bool is_blank(char c) { return c == ' ' || c == '\t'; }

// The next field of a line, taken off its front; empty at the end.
std::string_view take_field(std::string_view& line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  std::size_t length = 0;
  while (length < line.size() && !is_blank(line[length])) ++length;
  const std::string_view field = line.substr(0, length);
  line.remove_prefix(length);
  return field;
}

std::int64_t count_fields(std::string_view line) {
  std::int64_t count = 0;
  while (!take_field(line).empty()) ++count;
  return count;
}

bool is_whole_number(std::string_view field) {
  return !field.empty() &&
         std::all_of(field.begin(), field.end(), [](char c) { return c >= '0' && c <= '9'; });
}

struct Header {
  std::int64_t count = -1;  // unknown without a first line
  std::int64_t width = 0;
};

// Reads the first line; leaves `lines` where the first word is.
Header read_header(LineReader& lines, std::string_view where) {
  LineReader ahead = lines;
  std::string_view line;
  if (!ahead.next(line)) throw Error(where, "must hold word vectors, got nothing");
  const std::int64_t fields = count_fields(line);
  const std::string_view first = take_field(line);
  const std::string_view second = take_field(line);
  if (fields != 2 || !is_whole_number(first) || !is_whole_number(second)) {
    return {.count = -1, .width = fields - 1};
  }
  lines = ahead;
  return {.count = parse_int64(first, where), .width = parse_int64(second, where)};
}

float read_value(std::string_view field, const std::string& place, std::string_view where) {
  double value = 0;
  try {
    value = parse_double(field, where);
  } catch (const Error&) {
    throw Error(where, place + " must have a number in the range of float32, got " +
                           printable_quote(field));
  }
  constexpr double kRoundsToInfinity = 0x1.ffffffp127;  // half a step above the largest float32
  if (!(std::abs(value) < kRoundsToInfinity)) {
    throw Error(where, place + " must have finite float32 numbers, got " + printable_quote(field));
  }
  return static_cast<float>(value);
}

// Every line takes a word and a blank and a digit per value, so a file says by its size how many
// there can be at most.
void check_size(const Header& header, std::size_t bytes, std::string_view where) {
  const auto room = static_cast<std::int64_t>(bytes);
  if (header.width < 1) {
    throw Error(where,
                "must have at least one number per word, got " + std::to_string(header.width));
  }
  if (header.count == 0) throw Error(where, "must hold at least one word, got a count of 0");
  if (header.width > room / 2 || header.count > (room + 1) / (2 * header.width + 1)) {
    throw Error(where, "must be long enough for the count and width of its first line, got " +
                           std::to_string(bytes) + " bytes for " + std::to_string(header.count) +
                           " words of " + std::to_string(header.width) + " numbers");
  }
}

}  // namespace

WordVectors::WordVectors(std::vector<std::string> words, Tensor<float> vectors)
    : words_(std::move(words)), vectors_(std::move(vectors)) {
  const auto count = static_cast<std::int64_t>(words_.size());
  if (vectors_.rank() != 2 || vectors_.size(0) != count || vectors_.size(1) < 1) {
    throw Error("word_vectors.vectors", "must be [" + std::to_string(count) + ", width], got " +
                                            vectors_.shape().to_string());
  }
  if (words_.empty()) throw Error("word_vectors.words", "must hold at least one word");
  index_.reserve(words_.size());
  for (const std::string& word : words_) {
    if (word.empty()) throw Error("word_vectors.words", "must not hold an empty word");
    check_utf8(word, "word_vectors.words");
    if (!index_.emplace(word, static_cast<std::int64_t>(index_.size())).second) {
      throw Error("word_vectors.words",
                  "must hold every word once, got " + printable_quote(word) + " again");
    }
  }
  for (const float value : vectors_.span()) {
    if (!std::isfinite(value)) {
      throw Error("word_vectors.vectors", "must be finite, got " + shortest(value));
    }
  }
}

WordVectors WordVectors::load(const std::string& path) { return parse(read_file(path), path); }

WordVectors WordVectors::parse(std::string_view text, std::string_view where) {
  check_utf8(text, where);
  LineReader lines(text);
  Header header = read_header(lines, where);
  if (header.count < 0) {
    // As many words as there are lines before the blank ones at the end.
    const std::size_t end = text.find_last_not_of("\r\n") + 1;
    header.count =
        1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n');
  }
  check_size(header, text.size(), where);

  std::vector<std::string> words;
  words.reserve(static_cast<std::size_t>(header.count));
  std::unordered_map<std::string_view, std::string> first_place;
  Tensor<float> vectors = Tensor<float>::uninitialized({header.count, header.width});
  std::string_view line;
  for (std::int64_t row = 0; row < header.count; ++row) {
    if (!lines.next(line)) {
      throw Error(where, "must hold " + std::to_string(header.count) + " words, got " +
                             std::to_string(row));
    }
    const std::string place = lines.place();
    const std::int64_t fields = count_fields(line);
    if (line.empty() || is_blank(line.front()))
      throw Error(where, place + " must begin with a word");
    if (fields != header.width + 1) {
      throw Error(where, place + " must have a word and " + std::to_string(header.width) +
                             " numbers, got " + std::to_string(fields) + " fields");
    }
    const std::string_view word = take_field(line);
    if (const auto [known, is_new] = first_place.emplace(word, place); !is_new) {
      throw Error(where, place + " must have a new word, got " + printable_quote(word) + " as in " +
                             known->second);
    }
    words.emplace_back(word);
    for (std::int64_t i = 0; i < header.width; ++i) {
      vectors(row, i) = read_value(take_field(line), place, where);
    }
  }
  while (lines.next(line)) {
    if (!line.empty()) {
      throw Error(where, lines.place() + " must be the end: " + std::to_string(header.count) +
                             " words were announced, got more");
    }
  }
  return WordVectors(std::move(words), std::move(vectors));
}

void WordVectors::save(const std::string& path) const {
  std::string text = std::to_string(words_.size()) + ' ' + std::to_string(width()) + '\n';
  for (std::size_t row = 0; row < words_.size(); ++row) {
    const std::string& word = words_[row];
    const auto breaks_line = [](char c) {
      return c == '\0' || c == ' ' || (c >= '\t' && c <= '\r');
    };
    if (std::any_of(word.begin(), word.end(), breaks_line)) {
      throw Error("word_vectors.words",
                  "must not hold white space or a zero byte to be saved as .vec, got " +
                      printable_quote(word));
    }
    text += word;
    for (std::int64_t i = 0; i < width(); ++i) text += ' ' + shortest(vectors_(row, i));
    text += '\n';
  }
  write_file(path, text);
}

bool WordVectors::contains(std::string_view word) const {
  return index_.contains(std::string(word));
}

View<const float> WordVectors::operator[](std::string_view word) const {
  if (const auto found = index_.find(std::string(word)); found != index_.end()) {
    return vectors_.view().select(0, found->second);
  }
  std::string message =
      printable_quote(word) + " has no vector among " + std::to_string(words_.size()) + " words";
  if (const auto nearest = text::nearest_spelling(word, words_)) {
    message += "; the nearest spelling is " + printable_quote(*nearest);
  }
  throw Error("word_vectors", message);
}

}  // namespace sextant
