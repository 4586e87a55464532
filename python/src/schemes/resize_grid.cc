// Learned positions of a grid in another size.
#include "sextant/schemes/added/resize_grid.h"

#include "arrays.h"
#include "bindings.h"
#include "core/arrays/converted.h"
#include "interpreter_lock.h"

namespace sextant::python {
namespace {

// (rows, columns), or a side.
GridSize grid_size(nb::handle given, const char* name) {
  const Argument argument{given, "resize_grid", name};
  if (given.is_none()) return {};
  if (!nb::hasattr(given, "__iter__")) {
    const std::int64_t side = argument.integer();
    return {side, side};
  }
  const std::vector<std::int64_t> sides = argument.integers();
  if (sides.size() != 2) throw Error(argument.where(), "must be a side or (rows, columns)");
  return {sides[0], sides[1]};
}

nb::object resize(nb::handle table, nb::handle new_size, nb::handle old_size, nb::handle prefix,
                  nb::handle method, nb::handle convention) {
  constexpr std::string_view kName = "resize_grid";
  const InputArray in({table, kName, "table"});
  in.expect_rank(2, "[prefix + rows * columns, width]");
  const ResizeGrid options{
      .old_size = grid_size(old_size, "old_size"),
      .new_size = grid_size(new_size, "new_size"),
      .prefix = Argument{prefix, kName, "prefix"}.integer(),
      .method = Argument{method, kName, "method"}.choice<ResizeMethod>(),
      .convention = Argument{convention, kName, "convention"}.choice<ResizeConvention>()};
  return with_float(in, [&](auto type) {
    using T = typename decltype(type)::type;
    const Tensor<double> numbers = in.copy().to<double>();
    auto rounded = unlocked([&] { return converted<T>(resize_grid(numbers, options)); });
    return to_python(std::move(rounded), table);
  });
}

}  // namespace

void bind_resize_grid(nb::module_& module) {
  module.def("resize_grid", &resize, nb::arg("table").none(), nb::arg("new_size").none(),
             nb::arg("old_size").none(), nb::arg("prefix").none(), nb::arg("method").none(),
             nb::arg("convention").none(),
             nb::sig("def resize_grid(table: object, new_size: object, old_size: object, prefix: "
                     "object, method: object, convention: object) -> typing.Any"));
}

}  // namespace sextant::python
