// The command line's own small languages.
#include "options/arguments.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"
#include "sextant/core/printable.h"

namespace sextant::app {
namespace {

constexpr std::size_t kMaxPositions = std::size_t{1} << 24;

// A number with a fraction or an exponent; the two points of a range are neither.
bool is_real(std::string_view item) {
  return item.find("..") == std::string_view::npos &&
         item.find_first_of(".eE") != std::string_view::npos;
}

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> items;
  while (true) {
    const auto comma = text.find(',');
    items.push_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

struct FormatName {
  Format format;
  std::string_view name;
};
constexpr FormatName kFormatNames[] = {
    {Format::text, "text"}, {Format::csv, "csv"}, {Format::json, "json"}, {Format::npy, "npy"},
    {Format::svg, "svg"},   {Format::png, "png"}, {Format::pdf, "pdf"},   {Format::html, "html"},
};

std::string list_of(std::span<const Format> allowed, std::string_view prefix) {
  std::string list;
  for (const Format format : allowed) {
    if (prefix == "." && format == Format::text) continue;  // it has no ending
    list += (list.empty() ? "" : ", ") + std::string(prefix) + std::string(name_of(format));
  }
  return list;
}

bool is_whole(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// "1", "2^53", "2^32 - 1": large bounds are powers of two.
std::string bound_text(std::int64_t bound) {
  constexpr std::int64_t kPlain = 1 << 20;
  if (bound < 0)
    return bound == std::numeric_limits<std::int64_t>::min() ? "-2^63" : "-" + bound_text(-bound);
  if (bound < kPlain) return std::to_string(bound);
  for (int power = 20; power < 64; ++power) {
    const std::uint64_t value = std::uint64_t{1} << power;
    if (static_cast<std::uint64_t>(bound) == value) return "2^" + std::to_string(power);
    if (static_cast<std::uint64_t>(bound) == value - 1)
      return "2^" + std::to_string(power) + " - 1";
  }
  return std::to_string(bound);
}

}  // namespace

Positions parse_positions(std::string_view text, std::string_view where) {
  const auto items = split_commas(text);
  for (const auto item : items) {
    if (!item.empty() && item.find_first_not_of("0123456789+-.eE ") == std::string_view::npos) {
      continue;
    }
    throw Error(where,
                "must be positions such as 0,5,20..30 or 10.5,20, got " + printable_quote(text));
  }
  if (std::none_of(items.begin(), items.end(), is_real)) {
    return parse_int64_list(text, where, static_cast<std::int64_t>(kMaxPositions));
  }
  if (items.size() > kMaxPositions) throw Error(where, "must be at most 2^24 positions");
  std::vector<double> reals;
  for (const auto item : items) {
    if (item.find("..") != std::string_view::npos) {
      throw Error(where, "must be whole numbers to have ranges such as 0..10, got " +
                             printable_quote(item) + " among real values");
    }
    reals.push_back(parse_double(item, where));
  }
  return reals;
}

std::int64_t parse_integer(std::string_view text, std::string_view where, std::int64_t least,
                           std::int64_t most) {
  if (!is_whole(text)) throw Error(where, "must be a whole number, got " + printable_quote(text));
  const auto out_of_range = [&] {
    return Error(where, "must be a whole number in the range " + bound_text(least) + " .. " +
                            bound_text(most) + ", got " + printable_quote(text));
  };
  std::string_view digits = text;
  digits.remove_prefix(std::min(digits.find_first_of("123456789"), digits.size()));
  constexpr std::size_t kMaxDigits = 19;  // of 2^63
  if (digits.size() > kMaxDigits) throw out_of_range();
  std::uint64_t size = 0;  // 19 digits fit
  for (const char c : digits) size = 10 * size + static_cast<std::uint64_t>(c - '0');
  const bool negative = text.starts_with('-');
  const auto limit = std::uint64_t{1} << 63;
  if (size > (negative ? limit : limit - 1)) throw out_of_range();
  const auto value = static_cast<std::int64_t>(negative ? 0 - size : size);
  if (value < least || value > most) throw out_of_range();
  return value;
}

std::pair<std::int64_t, std::int64_t> parse_pair(std::string_view text, std::string_view where,
                                                 std::int64_t least) {
  const auto items = split_commas(text);
  if (items.size() != 2) {
    throw Error(where, "must be two whole numbers such as 2,10, got " +
                           std::to_string(items.size()) + (items.size() == 1 ? " item" : " items"));
  }
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return {parse_integer(items[0], where, least, kMost),
          parse_integer(items[1], where, least, kMost)};
}

double parse_finite(std::string_view text, std::string_view where, double least, bool above) {
  const double value = parse_double(text, where);
  const bool fits = above ? value > least : value >= least;
  if (std::isfinite(value) && fits) return value;
  const std::string bound =
      std::isfinite(least) ? (above ? " and > " : " and >= ") + shortest(least) : "";
  throw Error(where, "must be finite" + bound + ", got " + printable_quote(text));
}

std::pair<std::string, std::string> parse_words(std::string_view text, std::string_view where) {
  const auto items = split_commas(text);
  if (items.size() != 2 || items[0].empty() || items[1].empty()) {
    throw Error(where, "must be two words such as black,brown, got " + printable_quote(text));
  }
  return {std::string(items[0]), std::string(items[1])};
}

std::string_view name_of(Format format) noexcept {
  for (const auto& entry : kFormatNames) {
    if (entry.format == format) return entry.name;
  }
  return "text";
}

bool is_picture(Format format) noexcept { return format >= Format::svg; }

Format parse_format(std::string_view name, std::span<const Format> allowed,
                    std::string_view where) {
  for (const Format format : allowed) {
    if (name_of(format) == name) return format;
  }
  throw Error(where, "must be one of " + list_of(allowed, "") + ", got " + printable_quote(name));
}

Format format_of_path(std::string_view path, std::span<const Format> allowed,
                      std::string_view where) {
  const auto file = path.substr(path.find_last_of('/') + 1);
  const auto dot = file.find_last_of('.');
  if (dot != std::string_view::npos) {
    std::string ending(file.substr(dot + 1));
    for (char& c : ending) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    for (const Format format : allowed) {
      if (format != Format::text && name_of(format) == ending) return format;
    }
  }
  throw Error(where, "must be a file that ends in " + list_of(allowed, ".") + ", got " +
                         printable_quote(path));
}

std::string grouped(std::int64_t count) {
  std::string text = std::to_string(count);
  for (std::size_t at = text.size(); at > 3 && text[at - 4] != '-';) text.insert(at -= 3, 1, ',');
  return text;
}

std::string wrap(std::string_view text, std::size_t columns) {
  std::string out;
  std::size_t width = 0;
  while (!text.empty()) {
    if (text.front() == '\n') {
      out += '\n';
      width = 0;
      text.remove_prefix(1);
      continue;
    }
    if (text.front() == ' ' && width == 0) {  // an indented line keeps its indent
      const auto indent = std::min(text.find_first_not_of(' '), text.size());
      out.append(indent, ' ');
      width = indent;
      text.remove_prefix(indent);
      continue;
    }
    if (text.front() == ' ') {
      text.remove_prefix(1);
      const auto next = std::min(text.find_first_of(" \n"), text.size());
      if (next == 0) continue;
      out += width + 1 + next > columns ? '\n' : ' ';
      width = out.back() == '\n' ? 0 : width + 1;
    }
    const auto word = text.substr(0, std::min(text.find_first_of(" \n"), text.size()));
    if (const auto comma = word.substr(0, columns).rfind(',');
        word.size() > columns && comma != std::string_view::npos) {
      out.append(word.substr(0, comma + 1)) += '\n';
      width = 0;
      text.remove_prefix(comma + 1);
      continue;
    }
    out += word;
    width += word.size();
    text.remove_prefix(word.size());
  }
  return out;
}

}  // namespace sextant::app
