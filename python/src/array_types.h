// Which library an array is of.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

namespace sextant::python {

// By the module of its type: "torch", "jax", "mlx"; "numpy" for all that have no arrays to make.
std::string library_of(nanobind::handle like);

// NumPy's own class, none of its subclasses: the common case, found by its address.
bool is_plain_numpy(nanobind::handle value);
// numpy.ma.MaskedArray: DLPack and buffers show its numbers without the mask.
bool is_masked(nanobind::handle value);
// An array of NumPy's with elements of ml_dtypes.bfloat16.
bool is_numpy_bfloat16(nanobind::handle value);

}  // namespace sextant::python
