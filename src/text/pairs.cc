// Sentence pairs and plain text from files, with the line of every fault.
#include "sextant/text/pairs.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/text/segment.h"
#include "text/line_reader.h"

namespace sextant {
namespace {

constexpr std::uint64_t kMaxPairBytes = std::uint64_t{1} << 30;
constexpr std::string_view kByteOrderMark = "\uFEFF";

// Returns the lines without their ends, checked to be UTF-8; nothing follows the last line break.
std::vector<std::string_view> lines_of(std::string_view bytes, std::string_view where) {
  if (bytes.size() > kMaxPairBytes) {
    throw Error(where,
                "must be at most 1073741824 bytes long, got " + std::to_string(bytes.size()));
  }
  if (bytes.starts_with(kByteOrderMark)) bytes.remove_prefix(kByteOrderMark.size());
  std::vector<std::string_view> lines;
  text::LineReader reader(bytes);
  for (std::string_view line; reader.next(line);) {
    check_utf8(line, std::string(where) + ", " + reader.place());
    lines.push_back(line);
  }
  return lines;
}

bool is_blank(std::string_view text) { return split_spaces(text).empty(); }

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \r\v\f";
  const std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  for (;;) {
    const std::size_t tab = line.find('\t');
    fields.push_back(trimmed(line.substr(0, tab)));
    if (tab == std::string_view::npos) return fields;
    line.remove_prefix(tab + 1);
  }
}

bool looks_like_header(const std::vector<std::string_view>& fields) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  const auto is_word = [&](std::string_view field) {
    return !field.empty() && std::all_of(field.begin(), field.end(), is_plain);
  };
  return std::all_of(fields.begin(), fields.end(), is_word) &&
         std::set<std::string_view>(fields.begin(), fields.end()).size() == fields.size();
}

void check_columns(const PairColumns& columns) {
  if (columns.source < 0) {
    throw Error("pairs.source", "must be >= 0, got " + std::to_string(columns.source));
  }
  if (columns.target < 0 || columns.target == columns.source) {
    throw Error("pairs.target",
                "must be >= 0 and not the source column, got " + std::to_string(columns.target));
  }
}

}  // namespace

SentencePairs load_pairs(const std::string& path, const PairColumns& columns) {
  check_columns(columns);
  return parse_pairs(read_file(path, kMaxPairBytes), columns, path);
}

SentencePairs parse_pairs(std::string_view bytes, const PairColumns& columns,
                          std::string_view where) {
  check_columns(columns);
  const std::vector<std::string_view> lines = lines_of(bytes, where);
  const auto source = static_cast<std::size_t>(columns.source);
  const auto target = static_cast<std::size_t>(columns.target);
  SentencePairs pairs;
  std::size_t width = 0;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::vector<std::string_view> fields = fields_of(lines[i]);
    const auto fault = [&](const std::string& what) {
      return Error(std::string(where) + ", line " + std::to_string(i + 1), what);
    };
    if (i == 0) width = fields.size();
    if (fields.size() <= std::max(source, target)) {
      throw fault("must have at least " + std::to_string(std::max(source, target) + 1) +
                  " fields separated by tabs, got " + std::to_string(fields.size()));
    }
    if (fields.size() != width) {
      throw fault("must have " + std::to_string(width) +
                  " fields separated by tabs as line 1 has, got " + std::to_string(fields.size()));
    }
    const bool is_header = i == 0 && (columns.header == HeaderLine::yes ||
                                      (columns.header == HeaderLine::automatic &&
                                       lines.size() > 1 && looks_like_header(fields)));
    if (is_header) {
      pairs.source_name = fields[source];
      pairs.target_name = fields[target];
      continue;
    }
    if (is_blank(fields[source])) throw fault("must have a source, got an empty field");
    if (is_blank(fields[target])) throw fault("must have a target, got an empty field");
    pairs.source.emplace_back(fields[source]);
    pairs.target.emplace_back(fields[target]);
  }
  if (pairs.source.empty()) throw Error(where, "must hold at least one pair of sentences");
  return pairs;
}

std::vector<std::string> load_texts(const std::string& path, TextUnit unit) {
  return parse_texts(read_file(path, kMaxPairBytes), unit, path);
}

std::vector<std::string> parse_texts(std::string_view bytes, TextUnit unit,
                                     std::string_view where) {
  const std::vector<std::string_view> lines = lines_of(bytes, where);
  const bool ends_line = bytes.ends_with('\n');
  std::vector<std::string> texts;
  std::string text;
  bool any = false;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const bool is_empty = is_blank(lines[i]);
    any = any || !is_empty;
    if (unit == TextUnit::file) {
      text += lines[i];
      if (i + 1 < lines.size() || ends_line) text += '\n';
    } else if (unit == TextUnit::line) {
      if (!is_empty) texts.emplace_back(lines[i]);
    } else if (unit == TextUnit::paragraph) {
      if (!is_empty) {
        text += (text.empty() ? "" : "\n") + std::string(lines[i]);
      } else if (!text.empty()) {
        texts.push_back(std::exchange(text, {}));
      }
    } else {
      throw Error("text.unit", "must be file, paragraph or line");
    }
  }
  if (!any) throw Error(where, "must hold text, got nothing but white space");
  if (!text.empty()) texts.push_back(std::move(text));
  return texts;
}

}  // namespace sextant
