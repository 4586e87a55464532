// Applying tables to arrays of the caller's: rotations, and vectors added to embeddings.
#include "attention/call_options.h"
#include "bindings.h"
#include "core/arrays/overlap.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

nb::object rotate_array(nb::handle x, nb::handle table, nb::handle inverse, nb::handle out,
                        nb::handle threads, nb::handle layout) {
  InputArray in({x, "rotate", "x"});
  const HeadAxes axes = axes_of(in, layout);
  in.as_heads(axes);
  const auto* rotation = held<PyRotation>(table);
  if (rotation == nullptr) throw_type_error({table, "rotate", "table"}, "a RotationTable");
  const int workers = Argument{threads, "rotate", "threads"}.threads();
  const bool back = Argument{inverse, "rotate", "inverse"}.flag();
  return with_float(in, [&](auto type) {
    using T = typename decltype(type)::type;
    OutputArray result({out, "rotate", "out"}, dtype_of<T>, axes.outside(in.shape()), x);
    const View<T> rotated = axes.inside(result.view<T>());
    const auto apply = [&](const auto& chosen) {
      const Unlocked released;
      if (back) return rotate_back(in.view<T>(), rotated, chosen, workers);
      rotate(in.view<T>(), rotated, chosen, workers);
    };
    if (const auto* same = std::get_if<SharedRotation<T>>(&rotation->table)) {
      apply(**same);
    } else if (const auto* wide = std::get_if<SharedRotation<float>>(&rotation->table);
               sizeof(T) == 2 && wide != nullptr) {
      if constexpr (sizeof(T) == 2) apply(**wide);
    } else {
      throw WrongType("[rotate.table] must be of " + std::string(dtype_name(dtype_of<T>)) +
                      (sizeof(T) == 2 ? " or float32" : "") + ", as x");
    }
    return std::move(result).finished();
  });
}

// out = x + table, for x [..., length, width] of which every [length, width] gets the same rows.
template <class T>
void add_rows(View<const T> x, View<const T> table, View<T> out) {
  if (x.rank() > 2) {
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      add_rows<T>(x.select(0, i), table, out.select(0, i));
    }
    return;
  }
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
  for (std::int64_t i = 0; i < x.size(0); ++i) {
    check_interruption();
    for (std::int64_t j = 0; j < x.size(1); ++j) {
      out(i, j) = static_cast<T>(static_cast<Wide>(x(i, j)) + static_cast<Wide>(table(i, j)));
    }
  }
}

nb::object add_positions(nb::handle x, nb::handle table, nb::handle out) {
  const InputArray in({x, "add_positions", "x"}), rows({table, "add_positions", "table"});
  if (in.shape().rank() < 2) in.expect_rank(2, "[..., length, width]");
  rows.expect(in.dtype(), ", as x");
  const int rank = in.shape().rank();
  const Shape wanted{in.shape()[rank - 2], in.shape()[rank - 1]};
  if (!(rows.shape() == wanted)) {
    throw Error("add_positions.table", "must be [length, width] of x, " + wanted.to_string() +
                                           ", got " + rows.shape().to_string());
  }
  return with_float(in, [&](auto type) {
    using T = typename decltype(type)::type;
    OutputArray result({out, "add_positions", "out"}, dtype_of<T>, in.shape(), x);
    CallArrays arrays("add_positions");
    arrays.add_input("table", rows.view<T>());
    // Each element is read before it is written, so x itself is fine.
    if (!is_same_view<T>(in.view<T>(), result.view<T>())) arrays.add_input("x", in.view<T>());
    arrays.add_output("out", result.view<T>());
    {
      const Unlocked released;
      add_rows<T>(in.view<T>(), rows.view<T>(), result.view<T>());
    }
    return std::move(result).finished();
  });
}

}  // namespace

void bind_rotate(nb::module_& module) {
  module.def("rotate", &rotate_array, nb::arg("x").none(), nb::arg("table").none(),
             nb::arg("inverse").none(), nb::arg("out").none(), nb::arg("threads").none(),
             nb::arg("layout").none() = "bhld",
             nb::sig("def rotate(x: object, table: object, inverse: object, out: object, "
                     "threads: object, layout: object = 'bhld') -> typing.Any"));
  module.def("add_positions", &add_positions, nb::arg("x").none(), nb::arg("table").none(),
             nb::arg("out").none(),
             nb::sig("def add_positions(x: object, table: object, out: object) -> typing.Any"));
}

}  // namespace sextant::python
