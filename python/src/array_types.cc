// Which library an array is of.
#include "array_types.h"

#include <atomic>

#include "sextant/core/error.h"

namespace sextant::python {

bool is_plain_numpy(nb::handle value) {
  static std::atomic<PyObject*> numpys{nullptr};  // the class, which lives as long as the process
  PyObject* type = value.type().ptr();
  if (type == numpys.load(std::memory_order_relaxed)) return true;
  if (type_of(value) != "numpy.ndarray") return false;
  numpys.store(type, std::memory_order_relaxed);
  return true;
}

bool has_sound_buffer(nb::handle value) {
  if (is_plain_numpy(value) || nb::hasattr(value, "__dlpack__") ||
      PyObject_CheckBuffer(value.ptr()) == 0) {
    return true;
  }
  Py_buffer view;
  if (PyObject_GetBuffer(value.ptr(), &view, PyBUF_RECORDS_RO) != 0) {
    PyErr_Clear();
    return true;  // nothing is read of it
  }
  const bool sound = view.ndim == 0 || (view.shape != nullptr && view.strides != nullptr);
  PyBuffer_Release(&view);
  return sound;
}

bool is_masked(nb::handle value) {
  if (is_plain_numpy(value)) return false;
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  if (!modules.contains("numpy.ma")) return false;  // nobody can have made one
  return nb::isinstance(value, nb::object(modules["numpy.ma"]).attr("MaskedArray"));
}

void refuse_unresolved(const Argument& argument, Gradients gradients) {
  const nb::handle value = argument.value;
  if (PyFloat_CheckExact(value.ptr()) || PyLong_CheckExact(value.ptr()) || is_plain_numpy(value) ||
      !nb::hasattr(value, "requires_grad")) {
    return;
  }
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  if (!modules.contains("torch")) return;
  const nb::object torch = modules["torch"];
  if (!nb::isinstance(value, torch.attr("Tensor"))) return;
  const auto holds = [](const nb::object& answer) { return answer.is(Py_True); };
  if (gradients == Gradients::kept && holds(value.attr("requires_grad")) &&
      holds(torch.attr("is_grad_enabled")())) {
    throw Error(argument.where(),
                "must not require a gradient, which would be lost: sextant.torch computes "
                "gradients, detach() goes without");
  }
  for (const char* bit : {"neg", "conj"}) {
    if (!holds(value.attr((std::string("is_") + bit).c_str())())) continue;
    throw Error(argument.where(), std::string("must have its ") + bit + " bit resolved: resolve_" +
                                      bit + "() gives such a tensor");
  }
}

bool is_numpy_bfloat16(nb::handle value) {
  if (!nb::hasattr(value, "dtype") || !nb::hasattr(value, "__array_interface__")) return false;
  return text_of(nb::object(value.attr("dtype"))) == "bfloat16";
}

std::string library_of(nb::handle like) {
  if (!like.is_valid() || is_plain_numpy(like)) return "numpy";
  const std::string module = text_of(nb::getattr(like.type(), "__module__", nb::str("")));
  const std::string package = module.substr(0, module.find('.'));
  return package == "jaxlib" ? "jax" : package;
}

}  // namespace sextant::python
