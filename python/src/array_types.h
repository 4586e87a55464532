// Which library an array is of.
#pragma once

#include <nanobind/nanobind.h>

#include <string>

#include "arguments.h"

namespace sextant::python {

// By the module of its type: "torch", "jax", "mlx"; "numpy" for all that have no arrays to make.
std::string library_of(nanobind::handle like);

// False for a buffer that leaves out the shape and strides that were asked for, as that of NumPy's
// datetime64 does: nanobind reads them.
bool has_sound_buffer(nanobind::handle value);

// NumPy's own class, none of its subclasses: the common case, found by its address.
bool is_plain_numpy(nanobind::handle value);
// numpy.ma.MaskedArray: DLPack and buffers show its numbers without the mask.
bool is_masked(nanobind::handle value);
// Whether results made from an array could have gradients: an array could, a picture could not.
enum class Gradients { kept, meaningless };

// Throws Error for a tensor of torch's whose memory does not say all of it: one that requires a
// gradient while torch records them and it would be lost, or whose negative or conjugate bit is
// set.
void refuse_unresolved(const Argument& argument, Gradients gradients = Gradients::kept);
// An array of NumPy's with elements of ml_dtypes.bfloat16.
bool is_numpy_bfloat16(nanobind::handle value);

}  // namespace sextant::python
