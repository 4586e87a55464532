// Comma-separated values with names.
#include "sextant/lessons/named_table.h"

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"
#include "sextant/text/segment.h"

namespace sextant {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

struct Record {
  std::vector<std::string> fields;
  std::int64_t line = 0;  // where it begins
};

std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == text.npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") - begin + 1));
}

class Reader {
 public:
  Reader(std::string_view text, std::string_view where) : rest_(text), where_(where) {
    if (rest_.starts_with(kByteOrderMark)) rest_.remove_prefix(kByteOrderMark.size());
  }

  // The next record that is not an empty line; false at the end.
  bool next(Record& record) {
    do {
      if (rest_.empty()) return false;
      record = {{}, line_};
      while (field(record)) {
      }
    } while (record.fields.size() == 1 && record.fields[0].empty());
    return true;
  }

  [[noreturn]] void fail(std::int64_t line, const std::string& what) const {
    throw Error(std::string(where_) + " line " + std::to_string(line), what);
  }

 private:
  // Reads one field and its end; returns false at the end of the record.
  bool field(Record& record) {
    const auto begin = rest_.find_first_not_of(" \t");
    if (begin != rest_.npos && rest_[begin] == '"') {
      rest_.remove_prefix(begin + 1);
      record.fields.push_back(quoted(record.line));
      const auto end = rest_.find_first_not_of(" \t\r");
      rest_.remove_prefix(std::min(end, rest_.size()));
      if (!rest_.empty() && rest_[0] != ',' && rest_[0] != '\n') {
        fail(line_, "must have a comma after a quoted field");
      }
    } else {
      const auto end = std::min(rest_.find_first_of(",\n"), rest_.size());
      std::string_view text = rest_.substr(0, end);
      if (text.ends_with('\r')) text.remove_suffix(1);
      record.fields.push_back(trimmed(text));
      rest_.remove_prefix(end);
    }
    const bool more = rest_.starts_with(',');
    if (!more) ++line_;
    if (!rest_.empty()) rest_.remove_prefix(1);
    return more;
  }

  // After the opening quote, up to and with the closing one.
  std::string quoted(std::int64_t first_line) {
    std::string text;
    while (true) {
      const auto end = rest_.find('"');
      if (end == rest_.npos) fail(first_line, "must end its quoted field");
      text += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!rest_.starts_with('"')) break;
      text += '"';
      rest_.remove_prefix(1);
    }
    line_ += std::ranges::count(text, '\n');
    return text;
  }

  std::string_view rest_, where_;
  std::int64_t line_ = 1;
};

// Names of rows, or of columns: each there once.
class Names {
 public:
  Names(const Reader& reader, std::string of) : reader_(reader), of_(std::move(of)) {}

  void add(const std::string& name, std::int64_t line) {
    if (name.empty()) reader_.fail(line, "must name every " + of_);
    if (!known_.insert(name).second) {
      reader_.fail(line, "must not have the " + of_ + " " + printable_quote(name) + " twice");
    }
    list.push_back(name);
  }

  std::vector<std::string> list;

 private:
  const Reader& reader_;
  std::string of_;
  std::unordered_set<std::string> known_;
};

}  // namespace

NamedTable parse_named_table(std::string_view text, std::string_view where) {
  check_utf8(text, where);
  Reader reader(text, where);
  Record record;
  Names rows(reader, "row"), columns(reader, "column");
  if (!reader.next(record)) throw Error(where, "must have a row of names, got nothing");
  const std::string row_name = record.fields[0];
  for (std::size_t i = 1; i < record.fields.size(); ++i) {
    columns.add(record.fields[i], record.line);
  }
  if (columns.list.empty()) {
    reader.fail(record.line, "must name at least one column after the first");
  }
  std::vector<double> values;
  while (reader.next(record)) {
    if (record.fields.size() != columns.list.size() + 1) {
      reader.fail(record.line, "must have a name and " + std::to_string(columns.list.size()) +
                                   " numbers, got " + std::to_string(record.fields.size()) +
                                   " fields");
    }
    rows.add(record.fields[0], record.line);
    for (std::size_t i = 1; i < record.fields.size(); ++i) {
      const std::string place = std::string(where) + " line " + std::to_string(record.line);
      const double value = parse_double(record.fields[i], place);
      if (!std::isfinite(value)) throw Error(place, "must be finite, got " + record.fields[i]);
      values.push_back(value);
    }
  }
  if (rows.list.empty()) throw Error(where, "must have rows below the names, got none");
  NamedTable table{std::move(rows.list), std::move(columns.list), {}, row_name};
  table.values = Tensor<double>(Shape{static_cast<std::int64_t>(table.rows.size()),
                                      static_cast<std::int64_t>(table.columns.size())});
  std::ranges::copy(values, table.values.data());
  return table;
}

}  // namespace sextant
