// Rows in polar coordinates and their gradients.
#include "sextant/attention/polar.h"

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

// x as [batch, heads, length, head_dim] of float32, and its offsets; rank 1 and empty: none.
struct PolarInputs {
  PolarInputs(std::string_view function, nb::handle array, nb::handle offset_array,
              nb::handle thread_count, nb::handle layout)
      : x({array, function, "x"}), axes(axes_of(x, layout)) {
    x.as_heads(axes);
    x.expect(DType::float32, "");
    if (!offset_array.is_none()) {
      const InputArray given({offset_array, function, "offsets"});
      offsets = given.copy().to<double>();
    }
    threads = Argument{thread_count, function, "threads"}.threads();
  }
  Shape expanded() const {
    const Shape& shape = x.shape();
    return {shape[0], shape[1], shape[2], 2 * shape[3]};
  }

  InputArray x;
  HeadAxes axes;
  Tensor<double> offsets;
  int threads = 0;
};

nb::object expand_rows(nb::handle x, nb::handle offsets, nb::handle out, nb::handle threads,
                       nb::handle layout) {
  const PolarInputs in("polar_rows", x, offsets, threads, layout);
  OutputArray result({out, "polar_rows", "out"}, DType::float32, in.axes.outside(in.expanded()), x);
  {
    const Unlocked released;
    polar_rows(in.x.view<float>(), in.offsets.view(), in.axes.inside(result.view<float>()),
               in.threads);
  }
  return std::move(result).finished();
}

// (dx, doffsets); None without offsets.
nb::tuple expand_gradients(nb::handle dout, nb::handle x, nb::handle offsets, nb::handle threads,
                           nb::handle layout) {
  constexpr const char* kFunction = "polar_rows_backward";
  const PolarInputs in(kFunction, x, offsets, threads, layout);
  InputArray gradient({dout, kFunction, "dout"});
  gradient.as_heads(in.axes);
  gradient.expect(DType::float32, ", as x");
  const nb::object none = nb::none();
  OutputArray dx({none, kFunction, "dx"}, DType::float32, in.axes.outside(in.x.shape()), x);
  const bool has_offsets = !offsets.is_none();
  OutputArray doffsets({none, kFunction, "doffsets"}, DType::float64, in.offsets.shape(), x);
  {
    const Unlocked released;
    polar_rows_backward(in.x.view<float>(), in.offsets.view(), gradient.view<float>(),
                        in.axes.inside(dx.view<float>()),
                        has_offsets ? doffsets.view<double>() : View<double>(), in.threads);
  }
  nb::object of_offsets = nb::none();
  if (has_offsets) of_offsets = std::move(doffsets).finished();
  return nb::make_tuple(std::move(dx).finished(), of_offsets);
}

}  // namespace

void bind_polar(nb::module_& module) {
  module.def("polar_rows", &expand_rows, nb::arg("x").none(), nb::arg("offsets").none(),
             nb::arg("out").none(), nb::arg("threads").none(), nb::arg("layout").none(),
             nb::sig("def polar_rows(x: object, offsets: object, out: object, threads: object, "
                     "layout: object) -> typing.Any"));
  module.def("polar_rows_backward", &expand_gradients, nb::arg("dout").none(), nb::arg("x").none(),
             nb::arg("offsets").none(), nb::arg("threads").none(), nb::arg("layout").none(),
             nb::sig("def polar_rows_backward(dout: object, x: object, offsets: object, threads: "
                     "object, layout: object) -> tuple[typing.Any, typing.Any]"));
}

}  // namespace sextant::python
