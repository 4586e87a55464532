// Lists of position ids by the name of their rule.
#include "positions/ids_rule.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "calls/printed_call.h"
#include "core/text/strings.h"
#include "options/arguments.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/schemes/ids/positions.h"

namespace sextant::app {
namespace {

constexpr std::int64_t kMaxNumber = std::int64_t{1} << 30;

RowIds rows_of(const Tensor<std::int64_t>& ids, std::int64_t axes) {
  return {{ids.span().begin(), ids.span().end()}, axes};
}

std::vector<std::string> parts_of(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(mark, begin), text.size());
    parts.emplace_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

// "4x6": as many numbers of 1 or more as `count`.
std::vector<std::int64_t> sides(std::string_view text, std::size_t count, const std::string& where,
                                const char* form) {
  const std::vector<std::string> parts = parts_of(text, 'x');
  if (parts.size() != count) {
    throw Error(where, std::string("must be ") + form + ", got '" + std::string(text) + "'");
  }
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts)
    numbers.push_back(parse_integer(part, where, 1, kMaxNumber));
  return numbers;
}

RowIds patches(const std::string& text, const std::string& where) {
  constexpr const char* kForm = "patches:HEIGHTxWIDTH/SIDE";
  const std::vector<std::string> parts = parts_of(text, '/');
  const std::vector<std::int64_t> pixels = sides(parts[0], 2, where, kForm);
  const std::int64_t side = parts.size() == 2 ? parse_integer(parts[1], where, 1, kMaxNumber) : 0;
  if (side == 0) throw Error(where, std::string("must be ") + kForm + ", got '" + text + "'");
  for (const std::int64_t length : pixels) {
    if (length % side == 0) continue;
    throw Error(where, "must have sides that are multiples of the patch's, got " +
                           std::to_string(length) + " and " + std::to_string(side));
  }
  return rows_of(grid_positions(pixels[0] / side, pixels[1] / side), 2);
}

MropeSegment segment_of(const std::string& text, const std::string& where) {
  constexpr const char* kForm =
      "mrope:text=5,image=2x3,video=2x4x6,padding=1, the parts of a prompt in their order";
  const auto equals = text.find('=');
  const std::string kind = text.substr(0, equals);
  const std::string value = equals == text.npos ? "" : text.substr(equals + 1);
  if (kind == "text") return MropeSegment::text(parse_integer(value, where, 0, kMaxNumber));
  if (kind == "padding") return MropeSegment::padding(parse_integer(value, where, 0, kMaxNumber));
  if (kind == "image") {
    const auto of = sides(value, 2, where, kForm);
    return MropeSegment::image(of[0], of[1]);
  }
  if (kind == "video") {
    const auto of = sides(value, 3, where, kForm);
    return MropeSegment::video(of[0], of[1], of[2]);
  }
  throw Error(where, std::string("must be ") + kForm + ", got '" + text + "'");
}

std::vector<std::int64_t> begins(const std::string& text, const std::string& where) {
  std::vector<std::int64_t> numbers;
  for (const std::string& part : parts_of(text, ',')) {
    numbers.push_back(parse_integer(part, where, 0, kMaxNumber));
  }
  return numbers;
}

// f(), where errors of the library's functions are those of the option.
template <class F>
auto as_option(const std::string& where, const F& f) {
  try {
    return f();
  } catch (const Error& error) {
    if (error.where().find("_positions") == std::string::npos) throw;
    throw Error(where, std::string(error.what()).substr(error.where().size() + 3));
  }
}

Tensor<bool> mask_of(const std::string& path) {
  const Array array = load_npy(path);
  if (is_float(array.dtype) || array.shape.rank() < 1 || array.shape.rank() > 2) {
    throw Error(path, "must hold a mask [batch, length] or [length] of bool or integers, got " +
                          std::string(dtype_name(array.dtype)) + " " + array.shape.to_string());
  }
  return array.to<bool>();
}

}  // namespace

IdsRule parse_ids_rule(const std::string& text, const std::string& where) {
  const auto colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string value = colon == text.npos ? "" : text.substr(colon + 1);
  IdsRule rule{.text = text, .mask = {}, .rows = {}};
  if (value.empty()) {
    throw Error(
        where,
        "must be a rule and its argument, as packed:0,5,9 or padded:mask.npy, got '" + text + "'");
  }
  if (name == "padded" || name == "fairseq") {
    rule.mask = value;
    return rule;
  }
  rule.rows = as_option(where, [&]() -> RowIds {
    if (name == "packed") return {packed_positions(begins(value, where)), 1};
    if (name == "grid") {
      const auto of = sides(value, 2, where, "grid:ROWSxCOLUMNS");
      return rows_of(grid_positions(of[0], of[1]), 2);
    }
    if (name == "video") {
      const auto of = sides(value, 3, where, "video:FRAMESxROWSxCOLUMNS");
      return rows_of(video_positions(of[0], of[1], of[2]), 3);
    }
    if (name == "patches") return patches(value, where);
    if (name == "mrope") {
      std::vector<MropeSegment> segments;
      for (const std::string& part : parts_of(value, ',')) {
        segments.push_back(segment_of(part, where));
      }
      return rows_of(mrope_positions(segments).ids, 3);
    }
    throw Error(
        where,
        "must be one of packed, padded, fairseq, grid, patches, video, mrope, got '" + name + "'");
  });
  return rule;
}

RowIds ids_of(const IdsRule& rule) {
  if (rule.mask.empty()) return rule.rows;
  const Tensor<bool> seen = mask_of(rule.mask);
  const View<const bool> mask = seen.rank() == 2 ? seen.view() : seen.view().unsqueeze(0);
  const bool is_fairseq = rule.text.starts_with("fairseq");
  return rows_of(is_fairseq ? fairseq_positions(mask) : padded_positions(mask), 1);
}

std::string python_ids(const IdsRule& rule) {
  const std::string name = rule.text.substr(0, rule.text.find(':'));
  const std::string value = rule.text.substr(name.size() + 1);
  const std::string call = "sextant.positions." + name + "(";
  if (!rule.mask.empty()) return call + "numpy.load(" + string_literal(rule.mask) + ")).ravel()";
  const auto with_commas = [](std::string text) {
    for (char& letter : text) letter = letter == 'x' || letter == '/' ? ',' : letter;
    return joined(parts_of(text, ','), ", ", [](const std::string& part) { return part; });
  };
  if (name == "packed") return call + "[" + with_commas(value) + "])";
  if (name != "mrope") return call + with_commas(value) + ")";
  const auto segment = [&](const std::string& part) {
    const auto equals = part.find('=');
    return "(" + string_literal(part.substr(0, equals)) + ", " +
           with_commas(part.substr(equals + 1)) + ")";
  };
  return call + "[" + joined(parts_of(value, ','), ", ", segment) + "]).ids";
}

}  // namespace sextant::app
