// Tables that others stored, and how finely.
#include "sextant/interop/stored_table.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "core/text/strings.h"
#include "interop/complex_npy.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/numbers.h"

namespace sextant {
namespace {

// How finely one number was written: its significant digits, and its places after the point.
struct Digits {
  int significant = 0;
  int decimals = 0;
};

Digits digits_of(std::string_view number) {
  Digits digits;
  bool after_point = false;
  bool leading = true;
  std::size_t at = 0;
  for (; at < number.size() && number[at] != 'e' && number[at] != 'E'; ++at) {
    const char c = number[at];
    if (c == '.') after_point = true;
    if (c < '0' || c > '9') continue;
    leading = leading && c == '0';
    if (!leading) ++digits.significant;
    if (after_point) ++digits.decimals;
  }
  if (at < number.size()) {
    const auto exponent = parse_double(number.substr(at + 1), "exponent");
    const double decimals = digits.decimals - exponent;
    digits.decimals = static_cast<int>(std::clamp(decimals, 0.0, 400.0));
  }
  return digits;
}

constexpr std::string_view kSeparators = ",; \t\r";

constexpr std::string_view kNpyMagic = "\x93NUMPY";

// [rows, columns] of a shape whose other axes have length one.
Shape two_axes(const Shape& shape, const std::string& path) {
  std::vector<std::int64_t> sizes(shape.begin(), shape.end());
  for (std::size_t axis = 0; sizes.size() > 2 && axis < sizes.size();) {
    if (sizes[axis] == 1) {
      sizes.erase(sizes.begin() + static_cast<std::ptrdiff_t>(axis));
    } else {
      ++axis;
    }
  }
  if (sizes.size() != 2) {
    throw Error(path, "must hold a table [length, width], got shape " + shape.to_string());
  }
  return Shape(sizes);
}

Tensor<double> widened_bits(const Array& array) {
  const View<const std::uint16_t> bits = array.as<std::uint16_t>();
  Tensor<double> values(array.shape);
  for (std::int64_t i = 0; i < bits.count(); ++i) {
    bfloat16 value;
    value.bits = bits.data()[i];
    values.data()[i] = static_cast<double>(value);
  }
  return values;
}

StoredTable parse(std::string_view bytes, const std::string& path, std::optional<DType> wanted,
                  bool any) {
  if (wanted) unit_roundoff(*wanted);  // refuses types that are no floats
  if (!bytes.starts_with(kNpyMagic)) {
    if (path.ends_with(".npy")) parse_npy(bytes, path);  // reports its mistake
    StoredTable table = parse_number_table(bytes, path);
    if (wanted) table.unit_roundoff = unit_roundoff(*wanted);
    table.dtype = wanted;
    return table;
  }
  StoredTable result;
  Array array = parse_npy(bytes, path);
  if (!any) array.shape = two_axes(array.shape, path);
  const bool whole = any && !is_float(array.dtype) && array.dtype != DType::uint16 && !wanted;
  if (whole) {
    result.values = array.to<double>();
    result.dtype = array.dtype;
    result.unit_roundoff = unit_roundoff(DType::float64);
    return result;
  }
  if (array.dtype == DType::uint16) {
    if (wanted != DType::bfloat16) {
      throw Error(path, "holds uint16; when these are the bits of bfloat16, say --dtype bfloat16");
    }
    result.values = widened_bits(array);
  } else if (is_float(array.dtype)) {
    result.values = array.to<double>();
  } else {
    throw Error(path, "must hold float64, float32, float16 or bfloat16, got " +
                          std::string(dtype_name(array.dtype)));
  }
  result.dtype = wanted ? *wanted : array.dtype;
  result.unit_roundoff = unit_roundoff(*result.dtype);
  return result;
}

}  // namespace

StoredTable parse_table(std::string_view bytes, const std::string& where,
                        std::optional<DType> stored_as) {
  return parse(bytes, where, stored_as, false);
}

StoredTable parse_any_array(std::string_view bytes, const std::string& where,
                            std::optional<DType> stored_as) {
  return parse(interop::with_real_parts(bytes), where, stored_as, true);
}

StoredTable parse_number_table(std::string_view text, std::string_view where) {
  std::vector<double> values;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  Digits finest;
  std::int64_t line_number = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    ++line_number;
    if (line.empty() || line.front() == '#') continue;

    const std::string place = std::string(where) + " line " + std::to_string(line_number);
    const auto before = values.size();
    // A comma or semicolon may have spaces around it; two of them without a number between are an
    // empty field.
    bool expects_number = true;
    while (!line.empty()) {
      const auto item = line.substr(0, line.find_first_of(kSeparators));
      values.push_back(parse_double(item, place));
      if (std::isfinite(values.back())) {
        const Digits digits = digits_of(item);
        finest.significant = std::max(finest.significant, digits.significant);
        finest.decimals = std::max(finest.decimals, digits.decimals);
      }
      line.remove_prefix(item.size());
      expects_number = false;
      bool separated = false;
      while (!line.empty() && kSeparators.find(line.front()) != std::string_view::npos) {
        const bool mark = line.front() == ',' || line.front() == ';';
        if (mark && separated) break;
        separated = separated || mark;
        line.remove_prefix(1);
      }
      expects_number = separated;
    }
    if (expects_number) throw Error(place, "must not end in a separator");
    const auto found = static_cast<std::int64_t>(values.size() - before);
    if (rows == 0) columns = found;
    if (found != columns) {
      throw Error(place, "must have as many numbers as the first row, " + std::to_string(columns) +
                             ", got " + std::to_string(found));
    }
    ++rows;
  }
  if (rows == 0) throw Error(where, "must hold rows of numbers, got none");

  StoredTable table;
  table.values = Tensor<double>({rows, columns});
  std::copy(values.begin(), values.end(), table.values.data());
  constexpr int kDigitsOfFloat32 = 9;
  table.unit_roundoff =
      unit_roundoff(finest.significant <= kDigitsOfFloat32 ? DType::float32 : DType::float64);
  table.unit_roundoff = std::max(table.unit_roundoff, 0.5 * std::pow(10, -finest.decimals));
  table.unit_roundoff = std::min(table.unit_roundoff, unit_roundoff(DType::bfloat16));
  return table;
}

double unit_roundoff(DType dtype) {
  switch (dtype) {
    case DType::float64:
      return std::ldexp(1.0, -53);
    case DType::float32:
      return std::ldexp(1.0, -24);
    case DType::float16:
      return std::ldexp(1.0, -11);
    case DType::bfloat16:
      return std::ldexp(1.0, -8);
    default:
      throw Error("dtype", "must be float64, float32, float16 or bfloat16, got " +
                               std::string(dtype_name(dtype)));
  }
}

}  // namespace sextant
