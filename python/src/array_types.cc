// Which library an array is of.
#include "array_types.h"

#include <atomic>

#include "arguments.h"

namespace sextant::python {

bool is_plain_numpy(nb::handle value) {
  static std::atomic<PyObject*> numpys{nullptr};  // the class, which lives as long as the process
  PyObject* type = value.type().ptr();
  if (type == numpys.load(std::memory_order_relaxed)) return true;
  if (type_of(value) != "numpy.ndarray") return false;
  numpys.store(type, std::memory_order_relaxed);
  return true;
}

bool is_masked(nb::handle value) {
  if (is_plain_numpy(value)) return false;
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  if (!modules.contains("numpy.ma")) return false;  // nobody can have made one
  return nb::isinstance(value, nb::object(modules["numpy.ma"]).attr("MaskedArray"));
}

bool is_numpy_bfloat16(nb::handle value) {
  if (!nb::hasattr(value, "dtype") || !nb::hasattr(value, "__array_interface__")) return false;
  return text_of(nb::object(value.attr("dtype"))) == "bfloat16";
}

std::string library_of(nb::handle like) {
  if (!like.is_valid() || is_plain_numpy(like)) return "numpy";
  const std::string module = text_of(nb::object(like.type().attr("__module__")));
  const std::string package = module.substr(0, module.find('.'));
  return package == "jaxlib" ? "jax" : package;
}

}  // namespace sextant::python
