// Reading of arguments.
#include "arguments.h"

#include "array_types.h"
#include "core/text/strings.h"
#include "sextant/core/error.h"
#include "sextant/core/parallel.h"

namespace sextant::python {
namespace {

constexpr Py_ssize_t kMaxList = Py_ssize_t{1} << 28;

bool is_text(nb::handle value) { return nb::isinstance<nb::str>(value); }

// Each element of a sequence or array, read by `read`.
template <class T, class Read>
std::vector<T> each(const Argument& argument, std::string_view wanted, Read read) {
  // A set has no order, and a mapping gives its keys alone.
  if (is_text(argument.value) || nb::isinstance<nb::set>(argument.value) ||
      nb::isinstance<nb::frozenset>(argument.value) || nb::isinstance<nb::dict>(argument.value) ||
      !nb::hasattr(argument.value, "__iter__")) {
    throw_type_error(argument, wanted);
  }
  refuse_unresolved(argument);
  const Py_ssize_t length = PyObject_Size(argument.value.ptr());
  if (length < 0) PyErr_Clear();  // an iterator
  if (length > kMaxList) {
    throw Error(argument.where(), "must have up to 2^28 elements, got " + std::to_string(length));
  }
  std::vector<T> values;
  try {
    for (const nb::handle one : nb::borrow<nb::object>(argument.value)) {
      values.push_back(read(Argument{one, argument.scope, argument.name}));
    }
  } catch (const nb::python_error& error) {
    // An array or a memoryview that is no list.
    if (error.matches(PyExc_TypeError) || error.matches(PyExc_NotImplementedError)) {
      throw_type_error(argument, wanted);
    }
    throw;
  }
  return values;
}

std::optional<DType> dtype_named(const std::string& name, std::optional<DType> more) {
  try {
    const DType type = parse_dtype(name);
    if (is_float(type) || type == more) return type;
  } catch (const Error&) {
  }
  return std::nullopt;
}

// Returns the type for other arguments of numpy.dtype(): "f8", float. Empty for unknown ones, and
// for another byte order.
std::string numpy_name(nb::handle value) {
  if (value.is_none()) return "";
  try {
    const nb::object type = nb::module_::import_("numpy").attr("dtype")(value);
    return bool_of(type.attr("isnative")) == true ? text_of(nb::object(type.attr("name"))) : "";
  } catch (const nb::python_error& error) {
    if (!error.matches(PyExc_Exception)) throw;
    return "";
  }
}

}  // namespace

void throw_type_error(const Argument& argument, std::string_view wanted) {
  const nb::str type = nb::inst_name(argument.value);
  throw WrongType("[" + argument.where() + "] must be " + std::string(wanted) + ", got " +
                  type.c_str());
}

std::string text_of(nb::handle object) { return nb::str(object).c_str(); }

std::vector<std::pair<nb::object, nb::object>> items_of(const nb::dict& dict) {
  std::vector<std::pair<nb::object, nb::object>> items;
  for (const auto [key, value] : dict) items.emplace_back(nb::borrow(key), nb::borrow(value));
  return items;
}

std::string type_of(nb::handle value) {
  const nb::handle type = value.type();
  // Types of ctypes have no module.
  return text_of(nb::getattr(type, "__module__", nb::str(""))) + "." +
         text_of(nb::getattr(type, "__name__", nb::str("")));
}

std::string Argument::where() const {
  return scope.empty() ? std::string(name) : std::string(scope) + "." + std::string(name);
}

std::int64_t Argument::integer() const {
  if (PyLong_CheckExact(value.ptr()) != 0) {  // most are
    int overflow = 0;
    const std::int64_t number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
    if (overflow == 0) return number;
  }
  if (!nb::isinstance<nb::bool_>(value) && PyIndex_Check(value.ptr()) != 0) {
    const nb::object whole = nb::steal(PyNumber_Index(value.ptr()));
    if (whole.is_valid()) {
      int overflow = 0;
      const std::int64_t number = PyLong_AsLongLongAndOverflow(whole.ptr(), &overflow);
      if (overflow != 0) {
        throw Error(where(), "must fit in 64 bits, got " + text_of(whole));
      }
      return number;
    }
    PyErr_Clear();
  }
  throw_type_error(*this, "a whole number");
}

std::int64_t Argument::integer_in(const IntegerRange& range) const {
  const std::int64_t number = integer();
  if (number < range.min || number > range.max) check_range(range, where(), number);
  return number;
}

int Argument::threads() const { return static_cast<int>(integer_in({0, kMaxThreads})); }

double Argument::number() const {
  if (PyFloat_CheckExact(value.ptr()) != 0) return PyFloat_AsDouble(value.ptr());
  if (!nb::isinstance<nb::bool_>(value) && !is_text(value)) {
    refuse_unresolved(*this);
    const double number = PyFloat_AsDouble(value.ptr());
    if (number != -1.0 || PyErr_Occurred() == nullptr) return number;
    PyErr_Clear();
  }
  throw_type_error(*this, "a number");
}

std::optional<bool> bool_of(nb::handle value) {
  if (value.is(Py_True) || value.is(Py_False)) return value.is(Py_True);
  const std::string type = type_of(value);
  if (type != "numpy.bool" && type != "numpy.bool_") return std::nullopt;
  return PyObject_IsTrue(value.ptr()) == 1;
}

bool Argument::flag() const {
  if (const auto given = bool_of(value)) return *given;
  throw_type_error(*this, "True or False");
}

std::string Argument::text() const {
  if (!is_text(value)) throw_type_error(*this, "a str");
  Py_ssize_t size = 0;
  const char* bytes = PyUnicode_AsUTF8AndSize(value.ptr(), &size);
  if (bytes == nullptr) {
    PyErr_Clear();
    throw Error(where(), "must be text that UTF-8 can hold, got a lone surrogate");
  }
  return {bytes, static_cast<std::size_t>(size)};
}

std::string Argument::path() const {
  if (!nb::hasattr(value, "__fspath__")) return text();
  const nb::object path = value.attr("__fspath__")();
  return Argument{path, scope, name}.text();
}

std::size_t Argument::index_in(std::span<const std::string_view> names) const {
  if (is_text(value)) return find_name(names, text(), where());
  throw_type_error(*this, "one of " + joined(names, ", "));
}

DType Argument::dtype(std::optional<DType> more) const {
  std::string type;
  try {
    if (is_text(value)) {
      type = text();
    } else if (nb::hasattr(value, "name")) {
      type = text_of(nb::object(value.attr("name")));
    } else if (nb::isinstance<nb::type_object>(value)) {
      type = text_of(nb::object(value.attr("__name__")));
    } else {
      type = text_of(value);
      if (type.starts_with("torch.")) type = type.substr(6);
    }
  } catch (const nb::python_error& error) {  // an object without a text
    if (!error.matches(PyExc_TypeError)) throw;
    throw_type_error(*this, "one of float32, bfloat16, float16, float64");
  }
  if (const auto known = dtype_named(type, more)) return *known;
  if (const auto known = dtype_named(numpy_name(value), more)) return *known;
  throw Error(where(), "must be one of float32, bfloat16, float16, float64, got " + type);
}

std::vector<std::string> Argument::texts() const {
  return each<std::string>(*this, "a list of str", [](const Argument& one) { return one.text(); });
}

std::vector<std::int64_t> Argument::integers() const {
  return each<std::int64_t>(*this, "a list of whole numbers",
                            [](const Argument& one) { return one.integer(); });
}

std::vector<double> Argument::numbers() const {
  return each<double>(*this, "a list of numbers", [](const Argument& one) { return one.number(); });
}

}  // namespace sextant::python
