// Reads arguments from Python. A wrong one is a TypeError or a ValueError that names the argument,
// as the library's errors do.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "errors.h"
#include "sextant/core/dtype.h"
#include "sextant/core/names.h"
#include "sextant/core/options.h"

namespace nb = nanobind;

namespace sextant::python {

// One argument: its value, and its name in errors: "[scope.name] ...".
struct Argument {
  nb::handle value;
  std::string_view scope, name;

  std::string where() const;
  bool is_none() const { return value.is_none(); }

  // Return the value as the required type. Whole numbers may be NumPy's, numbers may be whole ones,
  // lists any sequence or array.
  std::int64_t integer() const;
  std::int64_t integer_in(const IntegerRange& range) const;
  int threads() const;  // 0 .. kMaxThreads
  double number() const;
  bool flag() const;
  std::string text() const;
  std::string path() const;  // a str, or an object with __fspath__()
  // "float32", numpy.float32, torch.float32: a float type, or `more`.
  DType dtype(std::optional<DType> more = {}) const;
  std::vector<std::string> texts() const;
  std::vector<std::int64_t> integers() const;
  std::vector<double> numbers() const;
  // An object of Python's class T: nb::list, nb::dict, ...
  template <class T>
  T as(std::string_view wanted) const;
  template <NamedEnum E>
  E choice() const {
    static const std::vector<std::string_view> names = names_of<E>();
    return static_cast<E>(index_in(names));
  }
  std::size_t index_in(std::span<const std::string_view> names) const;
};

// Returns the result of str().
std::string text_of(nb::handle object);

// Returns the value of Python's and NumPy's bools; nothing for other objects.
std::optional<bool> bool_of(nb::handle value);

// The items of a dict as they are now: reading one may run code that changes the dict.
std::vector<std::pair<nb::object, nb::object>> items_of(const nb::dict& dict);

// "numpy.ndarray": the module and the name of the value's type.
std::string type_of(nb::handle value);

// TypeError: "[where] must be <wanted>, got <type of value>".
[[noreturn]] void throw_type_error(const Argument& argument, std::string_view wanted);

template <class T>
T Argument::as(std::string_view wanted) const {
  if (!nb::isinstance<T>(value)) throw_type_error(*this, wanted);
  return nb::borrow<T>(value);
}

}  // namespace sextant::python
