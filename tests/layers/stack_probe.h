// The check of all gradients of a stack by differences.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "gradient_checks.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant {

// A stack over two sequences of 5 and 3 tokens (contexts of 4 and 2), and the check of all of its
// gradients.
struct Probe {
  StackOptions options;
  PositionOptions position_options;
  double dropout = 0;
  double attention_dropout = 0;

  void check() const {
    NumpyRandom random(3);
    TransformerStack<double> stack(options, random), gradient(options, random);
    set_to_zero(listed(gradient));
    PositionModule<double> positions(position_options), positions_gradient(position_options);
    set_to_zero(listed(positions_gradient));
    const std::int64_t width = options.attention.width;
    Tensor<double> x = random_tensor({8, width}, 4), context = random_tensor({6, width}, 5);
    const Tensor<double> dy = random_tensor({8, width}, 6);
    const std::int64_t segments[] = {0, 5, 8}, context_segments[] = {0, 4, 6};
    Workspace memory;
    const auto forward = [&](const PositionTables<double>& tables, Pass& pass) {
      const View<double> with_positions = memory.take<double>(x.shape());
      std::ranges::copy(x.span(), with_positions.data());
      tables.add_to(with_positions, segments, {}, pass);
      TransformerStack<double>::Input input{.segments = segments, .positions = &tables};
      if (options.cross) {
        input.context = context.view();
        input.context_segments = context_segments;
      }
      return stack.forward(with_positions, input, pass);
    };
    const auto loss = [&] {
      memory.reset();
      Pass pass = make_pass(memory);
      return inner(forward(positions.tables(segments), pass).y, dy);
    };
    Pass pass = make_pass(memory);
    const PositionTables<double> tables = positions.tables(segments);
    const auto saved = forward(tables, pass);
    Tensor<double> d = dy.clone(), dcontext(context.shape());
    stack.backward(saved, d, dcontext, gradient, &positions_gradient, pass);
    tables.add_gradient(d, segments, {}, positions_gradient);
    tables.backward(positions_gradient);
    expect_gradient(x.span(), d.span(), loss, "x", 12);
    if (options.cross) expect_gradient(context.span(), dcontext.span(), loss, "context", 8);
    expect_gradients(listed(stack), listed(gradient), loss, 4);
    const bool is_float32 =
        positions.has(SchemeKind::distance_bias) || positions.has(SchemeKind::indexed_bias);
    expect_gradients(listed(positions), listed(positions_gradient), loss, 6,
                     is_float32 ? kThroughFloat32 : Differences{});
  }

 private:
  Pass make_pass(Workspace& memory) const {
    return {.memory = memory,
            .threads = 1,
            .dropout = dropout,
            .random = {.seed = 5},
            .attention_dropout = attention_dropout};
  }
};

inline StackOptions small() {
  StackOptions options;
  options.layers = 2;
  options.attention = {.width = 8, .heads = 2};
  options.ffn_width = 12;
  options.activation = Activation::gelu;
  return options;
}

}  // namespace sextant
