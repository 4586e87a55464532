// Tables that come from files.
#include "streams/table_input.h"

#include <cstring>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/core/npy.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

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

}  // namespace

namespace {

StoredTable load(const std::string& path, const std::string& stored_as, bool any) {
  std::optional<DType> wanted;
  if (!stored_as.empty()) {
    wanted = parse_dtype(stored_as);
    unit_roundoff(*wanted);  // refuses types that are no floats
  }
  const std::string bytes = path == "-" ? read_stdin() : read_file(path);
  StoredTable result;
  if (!bytes.starts_with(kNpyMagic)) {
    if (path.ends_with(".npy")) parse_npy(bytes, path);  // says what is wrong with it
    NumberTable table = parse_number_table(bytes, path);
    result.values = std::move(table.values);
    result.unit_roundoff = wanted ? unit_roundoff(*wanted) : table.unit_roundoff;
    result.dtype = wanted;
    return result;
  }
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

StoredTable load_table(const std::string& path, const std::string& stored_as) {
  return load(path, stored_as, false);
}

StoredTable load_any_array(const std::string& path, const std::string& stored_as) {
  return load(path, stored_as, true);
}

}  // namespace sextant::app
