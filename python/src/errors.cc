// Errors of the library as those of the package, which are Python's own kinds too.
#include "errors.h"

#include <nanobind/nanobind.h>

#include <exception>

#include "bindings.h"
#include "sextant/core/missing_file.h"

namespace nb = nanobind;

namespace sextant::python {
namespace {

// Sets sextant._errors.<name>, or `otherwise` where the module is loaded without its package.
void set_error(const char* name, PyObject* otherwise, const char* text) {
  PyObject* const module = PyImport_ImportModule("sextant._errors");
  PyObject* const type = module == nullptr ? nullptr : PyObject_GetAttrString(module, name);
  PyErr_Clear();
  PyErr_SetString(type == nullptr ? otherwise : type, text);
  Py_XDECREF(type);
  Py_XDECREF(module);
}

}  // namespace

void bind_errors(nb::module_&) {
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const MissingFile& error) {
      set_error("MissingFileError", PyExc_FileNotFoundError, error.what());
    } catch (const Error& error) {
      set_error("ArgumentError", PyExc_ValueError, error.what());
    } catch (const WrongType& error) {
      set_error("ArgumentTypeError", PyExc_TypeError, error.what());
    }
  });
}

}  // namespace sextant::python
