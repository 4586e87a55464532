// Reads files of training text: pairs of sentences in columns, and plain text in pieces.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

enum class HeaderLine {
  // The first line is a header if each of its fields is one word of ASCII letters, digits, '_' or
  // '-', all different, and more lines follow: "original<TAB>modern".
  automatic,
  yes,
  no
};

struct PairColumns {
  std::int64_t source = 0;  // column, counted from 0
  std::int64_t target = 1;  // another column; swap the two for the reverse direction
  HeaderLine header = HeaderLine::automatic;
};

// source[i] belongs to target[i].
struct SentencePairs {
  std::vector<std::string> source;
  std::vector<std::string> target;
  std::string source_name;  // from the header, else empty
  std::string target_name;
};

// Reads a file with one pair per line, fields separated by tabs. A "\r" before the line's end,
// white space at a field's ends and a byte order mark at the beginning are dropped. Throws an Error
// with the file and the line (from 1) for a line that is not UTF-8, has another number of fields
// than the first, or has an empty side; for no pair at all, equal or missing columns, and files
// above 1 GiB.
SentencePairs load_pairs(const std::string& path, const PairColumns& columns = {});
SentencePairs parse_pairs(std::string_view bytes, const PairColumns& columns = {},
                          std::string_view where = "pairs");

enum class TextUnit {
  file,       // the whole file, with line breaks
  paragraph,  // lines up to an empty one, with line breaks between them
  line        // without its line break; empty ones are omitted
};

// Reads a text file in pieces, in order; "\r\n" becomes "\n" and a byte order mark is dropped.
// Throws Error for a file that is not UTF-8 (with the line), has only white space, or is above 1
// GiB.
std::vector<std::string> load_texts(const std::string& path, TextUnit unit = TextUnit::file);
std::vector<std::string> parse_texts(std::string_view bytes, TextUnit unit = TextUnit::file,
                                     std::string_view where = "text");

}  // namespace sextant
