// Copies of the module's objects: of one that never changes it is the object itself, and a pickle
// is a call that makes it again.
#pragma once

#include <nanobind/nanobind.h>

#include <utility>

namespace sextant::python {

template <class T>
void copy_is_itself(nanobind::class_<T>& type) {
  namespace nb = nanobind;
  type.def(
      "__copy__", [](nb::handle self) { return nb::borrow(self); },
      nb::sig("def __copy__(self) -> typing.Any"));
}

template <class T>
void never_changes(nanobind::class_<T>& type) {
  namespace nb = nanobind;
  copy_is_itself(type);
  type.def(
      "__deepcopy__", [](nb::handle self, nb::handle) { return nb::borrow(self); }, nb::arg("memo"),
      nb::sig("def __deepcopy__(self, memo: object) -> typing.Any"));
}

// A model, whose weights may change: its deep copy has weights of its own, copied(self).
template <class T, class Copied>
void copies_weights(nanobind::class_<T>& type, const Copied& copied) {
  namespace nb = nanobind;
  copy_is_itself(type);
  type.def(
      "__deepcopy__", [copied](const T& self, nb::handle) { return copied(self); }, nb::arg("memo"),
      nb::sig("def __deepcopy__(self, memo: object) -> typing.Any"));
}

// `function` of sextant._copies with these arguments, as __reduce__() gives it.
template <class... Arguments>
nanobind::tuple made_by(const char* function, Arguments&&... arguments) {
  namespace nb = nanobind;
  return nb::make_tuple(nb::module_::import_("sextant._copies").attr(function),
                        nb::make_tuple(std::forward<Arguments>(arguments)...));
}

// The files that save(folder) writes, a dict of bytes by name. `inside`: the name of a folder that
// it makes; else it writes into one that there is.
inline nanobind::object saved_files(const nanobind::object& save, const char* inside = "") {
  return nanobind::module_::import_("sextant._copies").attr("files_of")(save, inside);
}

constexpr const char* kReduceSignature = "def __reduce__(self) -> tuple[typing.Any, ...]";

}  // namespace sextant::python
