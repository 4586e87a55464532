// Files of tensors as arrays that borrow the mapped file.
#include "sextant/core/tensor_file.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "arrays.h"
#include "bindings.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

TensorFile open_tensor_file(const std::string& path) {
  const Unlocked released;
  return TensorFile::open(path);
}

std::vector<std::string> names_of(const TensorFile& file) {
  std::vector<std::string> names;
  for (const StoredTensor& tensor : file.tensors()) names.push_back(tensor.name);
  return names;
}

// None for a name that is not there. `self` keeps the file mapped as long as the array lives.
nb::object array_named(nb::handle self, const std::string& name) {
  const auto& file = nb::cast<const TensorFile&>(self);
  const StoredTensor* tensor = file.find(name);
  if (tensor == nullptr) return nb::none();
  const auto bytes = unlocked([&] { return file.bytes(*tensor); });
  const auto is_bool = [](std::byte byte) { return byte <= std::byte{1}; };
  if (tensor->dtype == DType::boolean && !std::ranges::all_of(bytes, is_bool)) {
    auto copy = Tensor<bool>::uninitialized(tensor->shape);  // NumPy's are 0 or 1
    file.read(*tensor, 0, copy.span());
    return to_python(std::move(copy));
  }
  return array_object(const_cast<std::byte*>(bytes.data()), tensor->dtype, tensor->shape, self, {},
                      false);
}

}  // namespace

void bind_tensor_file(nb::module_& module) {
  nb::class_<TensorFile>(module, "TensorFile")
      .def_static("open", &open_tensor_file)
      .def_prop_ro("path", [](const TensorFile& self) { return self.path(); })
      .def_prop_ro("files",
                   [](const TensorFile& self) {
                     return std::vector<std::string>(self.files().begin(), self.files().end());
                   })
      .def_prop_ro("metadata", [](const TensorFile& self) { return self.metadata(); })
      .def("names", &names_of)
      .def("array", &array_named);
}

}  // namespace sextant::python
