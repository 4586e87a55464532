// Pictures of attention weights: maps, or lines between words.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "arrays.h"
#include "bindings.h"
#include "core/text/strings.h"
#include "interpreter_lock.h"
#include "pictures/picture_options.h"
#include "sextant/figures/attention_maps.h"

namespace sextant::python {
namespace {

// [heads, queries, keys] of weights [heads, queries, keys], [queries, keys], or a batch of one.
Tensor<double> heads_of(const InputArray& array) {
  const Shape& shape = array.shape();
  const int rank = shape.rank();
  if (rank < 2 || rank > 4 || (rank == 4 && shape[0] != 1)) {
    throw Error(array.argument().where(),
                "must be [heads, queries, keys], [queries, keys] or a batch of one, got " +
                    shape.to_string() + (rank == 4 ? "; choose one: weights[0]" : ""));
  }
  if (!is_float(array.dtype())) array.expect(DType::float32, " or another float");
  Tensor<double> numbers = array.copy().to<double>();
  const Shape heads{rank == 2 ? 1 : shape[rank - 3], shape[rank - 2], shape[rank - 1]};
  auto result = Tensor<double>::uninitialized(heads);
  std::ranges::copy(numbers.span(), result.data());
  return result;
}

// The place of head `head` (-1: all) among heads of these numbers, from 0 if there are none.
std::int64_t place_of(std::int64_t head, const std::vector<std::int64_t>& heads) {
  if (head < 0 || heads.empty()) return head;
  const auto found = std::ranges::find(heads, head);
  if (found != heads.end()) return found - heads.begin();
  throw Error("attention.head",
              "must be one of the heads " +
                  joined(heads, ", ", [](std::int64_t one) { return std::to_string(one); }) +
                  ", got " + std::to_string(head));
}

Picture plot_attention(nb::handle given, const std::vector<std::string>& queries,
                       const std::vector<std::string>& keys, const nb::dict& more) {
  const PictureOptions options("attention", more);
  const InputArray array({given, "attention", "weights"}, Gradients::meaningless);
  const Tensor<double> masked = heads_of(array);
  Tensor<double> weights = masked.clone();
  for (double& weight : weights.span()) {
    if (weight == -HUGE_VAL) weight = 0;  // a hidden pair
  }
  figures::HeadMaps maps{.weights = weights.view(),
                         .masked = masked.view(),
                         .queries = queries,
                         .keys = keys,
                         .title = options.text("title", "Attention"),
                         .head = options.integer("head", {0, 1 << 20}).value_or(-1),
                         .heads = options.integers("heads"),
                         .has_heads = array.shape().rank() > 2 && options.flag("has_heads"),
                         .row_name = options.text("row_name", "Queries"),
                         .column_name = options.text("column_name", "Keys")};
  const std::optional<double> width = options.max_width();
  const bool lines = options.flag("lines");
  return with_arguments_of("attention", [&] {
    const Unlocked released;
    const std::int64_t place = place_of(maps.head, maps.heads);
    maps.weights = figures::chosen_heads(maps.weights, place);
    maps.masked = figures::chosen_heads(*maps.masked, place);
    figures::check_tokens(maps.queries, "attention.queries");
    figures::check_tokens(maps.keys, "attention.keys");
    return lines ? draw_lines(maps, width) : draw_maps(maps, width);
  });
}

}  // namespace

void bind_attention_pictures(nb::module_& module) {
  module.def("plot_attention", &plot_attention, nb::arg("weights").none(), nb::arg("queries"),
             nb::arg("keys"), nb::arg("options"),
             nb::sig("def plot_attention(weights: object, queries: list[str], keys: list[str], "
                     "options: dict[str, typing.Any]) -> Picture"));
}

}  // namespace sextant::python
