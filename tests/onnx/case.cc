// Reads the description of a case, its arrays, and compares results with them.
#include "onnx/case.h"

#include <algorithm>
#include <cmath>
#include <exception>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "sextant/core/files.h"
#include "sextant/core/numbers.h"

namespace sextant::onnx {
namespace {

const Json& member(const Json& object, const char* name, const char* where) {
  if (!object.is_object() || !object.contains(name)) {
    throw Error(where, std::string("must have a member \"") + name + "\"");
  }
  return object[name];
}

Shape shape_of(const Json& list) {
  std::vector<std::int64_t> sizes;
  for (const auto& size : list) sizes.push_back(size.get<std::int64_t>());
  return Shape(sizes);
}

// Of an input or output, which must be there.
DType type_of(const Json& entry, const char* list) {
  return parse_dtype(member(entry, "dtype", list).get<std::string>());
}

double tolerance(const Json& about, const char* name) {
  const auto value =
      member(member(about, "tolerance", "case.json"), name, "tolerance").get<double>();
  if (!(value >= 0)) throw Error("tolerance", "must be numbers >= 0");
  return value;
}

// "[0, 2, 1]" of an element, counted row by row.
std::string index_name(const Shape& shape, std::int64_t n) {
  std::vector<std::int64_t> index(static_cast<std::size_t>(shape.rank()));
  for (int axis = shape.rank() - 1; axis >= 0; --axis) {
    index[static_cast<std::size_t>(axis)] = n % shape[axis];
    n /= shape[axis];
  }
  return Shape(index).to_string();
}

// The value as an element of the type, as a number again.
double rounded(DType dtype, double value) {
  switch (dtype) {
    case DType::float16:
      return static_cast<double>(float16(value));
    case DType::bfloat16:
      return static_cast<double>(bfloat16(value));
    case DType::float32:
      return static_cast<double>(static_cast<float>(value));
    default:
      return value;
  }
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Case::Case(const std::string& folder)
    : folder_(folder), about_(Json::parse(read_file(folder + "/case.json"))) {
  op_ = member(about_, "op", "case.json").get<std::string>();
  rtol_ = tolerance(about_, "rtol");
  atol_ = tolerance(about_, "atol");
  for (const char* list : {"inputs", "outputs"}) {
    if (!member(about_, list, "case.json").is_array()) throw Error(list, "must be a list");
  }
  if (!member(about_, "attributes", "case.json").is_object()) {
    throw Error("attributes", "must be an object");
  }
}

void Case::expect(std::size_t inputs, std::size_t outputs,
                  std::span<const std::string_view> attributes) const {
  const auto check_count = [&](const char* list, std::size_t count) {
    if (about_[list].size() != count) {
      throw Error(list, "must have " + std::to_string(count) + " entries, got " +
                            std::to_string(about_[list].size()));
    }
  };
  check_count("inputs", inputs);
  check_count("outputs", outputs);
  for (const auto& [name, value] : about_["attributes"].items()) {
    if (std::find(attributes.begin(), attributes.end(), name) == attributes.end()) {
      throw Error("attributes", "must not hold " + name + ", which " + op_ + " does not have");
    }
  }
  std::size_t wanted = 0;
  for (std::size_t n = 0; n < outputs; ++n) wanted += has_output(n) ? 1 : 0;
  if (wanted == 0) throw Error("outputs", "must hold at least one output to compare with");
}

bool Case::has_attribute(std::string_view name) const {
  return about_["attributes"].contains(std::string(name));
}

std::int64_t Case::integer(std::string_view name, std::int64_t otherwise) const {
  if (!has_attribute(name)) return otherwise;
  const auto& value = about_["attributes"][std::string(name)];
  if (!value.is_integer()) throw Error(name, "must be an integer, got " + value.dump());
  return value.get<std::int64_t>();
}

std::optional<double> Case::number(std::string_view name) const {
  if (!has_attribute(name)) return {};
  const auto& value = about_["attributes"][std::string(name)];
  if (!value.is_number()) throw Error(name, "must be a number, got " + value.dump());
  return static_cast<double>(static_cast<float>(value.get<double>()));
}

bool Case::has_input(std::size_t position) const { return !about_["inputs"][position].is_null(); }

bool Case::has_output(std::size_t position) const { return !about_["outputs"][position].is_null(); }

DType Case::input_type(std::size_t position) const {
  return type_of(about_["inputs"][position], "inputs");
}

Array Case::input(std::size_t position) const { return load("inputs", position); }

Array Case::load(const char* list, std::size_t position) const {
  const Json& entry = about_[list][position];
  const auto file = member(entry, "file", list).get<std::string>();
  const DType dtype = type_of(entry, list);
  Array array = load_npy((std::filesystem::path(folder_) / file).string());
  if (dtype == DType::bfloat16 && array.dtype == DType::uint16) array.dtype = dtype;  // raw bits
  if (array.dtype != dtype) {
    throw Error(file, "must be " + std::string(dtype_name(dtype)) + ", got " +
                          std::string(dtype_name(array.dtype)));
  }
  const Shape shape = shape_of(member(entry, "shape", list));
  if (!(array.shape == shape)) {
    throw Error(file, "must be " + shape.to_string() + ", got " + array.shape.to_string());
  }
  return array;
}

template <class T>
void Case::compare(std::size_t position, DType dtype, View<const T> got, Compare how,
                   Verdict& verdict) const {
  if (!has_output(position)) return;
  const auto fail = [&](const std::string& what) {
    if (verdict.reason.empty()) {
      verdict.reason =
          member(about_["outputs"][position], "name", "outputs").get<std::string>() + " " + what;
    }
  };
  const Array expected = load("outputs", position);
  if (expected.dtype != dtype) {
    return fail("must be expected as " + std::string(dtype_name(dtype)) + ", not as " +
                std::string(dtype_name(expected.dtype)));
  }
  if (!(got.shape() == expected.shape)) {
    return fail("is " + got.shape().to_string() + ", not " + expected.shape.to_string());
  }
  const auto values = copy_of(got);
  const auto wanted = expected.to<double>();
  const double rtol = how == Compare::exactly ? 0 : rtol_,
               atol = how == Compare::exactly ? 0 : atol_;
  for (std::int64_t n = 0; n < wanted.count(); ++n) {
    const double want = wanted.data()[n];
    const double value = rounded(dtype, static_cast<double>(values.data()[n]));
    if (value == want || (std::isnan(value) && std::isnan(want))) continue;
    const double error = std::abs(value - want);
    const bool finite = std::isfinite(value) && std::isfinite(want);
    verdict.largest_error =
        std::max(verdict.largest_error, finite ? error : std::numeric_limits<double>::infinity());
    if (!finite || !(error <= atol + rtol * std::abs(want))) {
      fail(index_name(wanted.shape(), n) + " is " + shortest(value) + ", not " + shortest(want));
    }
  }
}

Verdict run_case(const std::string& folder) {
  Verdict verdict;
  try {
    const Case c(folder);
    if (c.op() == "Attention") return run_attention(c);
    if (c.op() == "RotaryEmbedding") return run_rotary(c);
    verdict.reason = "op must be Attention or RotaryEmbedding, got " + c.op();
  } catch (const std::exception& error) {
    verdict.reason = one_line(error.what());
  }
  verdict.largest_error = std::numeric_limits<double>::infinity();
  return verdict;
}

template <class T>
View<const T> by_heads(const Case& c, const Tensor<T>& x, std::string_view attribute,
                       std::string_view where) {
  if (x.rank() == 4) return x.view();
  if (x.rank() != 3) throw Error(where, "must have rank 3 or 4, got " + x.shape().to_string());
  if (!c.has_attribute(attribute)) {
    throw Error(attribute, "must be given for an array of rank 3");
  }
  return x.view().split(2, c.integer(attribute, 0)).transpose(1, 2);
}

template <class T>
Tensor<T> in_rank(int rank, Tensor<T> x) {
  if (rank == 4) return x;
  const auto rows = copy_of(x.view().transpose(1, 2));
  Tensor<T> joined(Shape{rows.size(0), rows.size(1), rows.size(2) * rows.size(3)});
  std::copy_n(rows.data(), rows.count(), joined.data());
  return joined;
}

#define SEXTANT_INSTANTIATE(T)                                                             \
  template void Case::compare(std::size_t, DType, View<const T>, Compare, Verdict&) const; \
  template View<const T> by_heads(const Case&, const Tensor<T>&, std::string_view,         \
                                  std::string_view);                                       \
  template Tensor<T> in_rank(int, Tensor<T>);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::onnx
