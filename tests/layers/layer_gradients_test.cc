// Every layer's backward pass against central differences of its forward pass.
#include <gtest/gtest.h>

#include "gradient_checks.h"
#include "sextant/layers/feed_forward.h"
#include "sextant/layers/linear.h"
#include "sextant/layers/norm.h"

namespace sextant {
namespace {

TEST(Layers, LinearHasTheGradientOfItsProducts) {
  NumpyRandom random(1);
  auto layer = Linear<double>::glorot(5, 3, random);
  auto gradient = Linear<double>::glorot(5, 3, random);
  set_to_zero(listed(gradient));
  Tensor<double> x = random_tensor({7, 5}, 2);
  const Tensor<double> dy = random_tensor({7, 3}, 3);
  Workspace memory;
  const auto loss = [&] {
    Pass pass{.memory = memory, .threads = 1};
    memory.reset();
    const View<double> y = memory.take<double>({7, 3});
    layer.forward(x, y, pass);
    return inner(y, dy);
  };
  Tensor<double> dx({7, 5});
  Pass pass{.memory = memory, .threads = 1};
  layer.backward(x, dy, dx, gradient, pass);
  expect_gradient(x.span(), dx.span(), loss, "x");
  expect_gradients(listed(layer), listed(gradient), loss);
}

TEST(Layers, NormsHaveTheGradientOfTheirStatistics) {
  for (const NormKind kind : {NormKind::layer, NormKind::rms}) {
    Norm<double> layer(kind, 6), gradient(kind, 6);
    layer.gain = random_tensor({6}, 4);
    set_to_zero(listed(gradient));
    Tensor<double> x = random_tensor({5, 6}, 5);
    const Tensor<double> dy = random_tensor({5, 6}, 6);
    Workspace memory;
    Pass pass{.memory = memory, .threads = 1};
    Norm<double>::Saved saved;
    const auto loss = [&] {
      memory.reset();
      const View<double> y = memory.take<double>({5, 6});
      saved = layer.forward(x, y, pass);
      return inner(y, dy);
    };
    loss();
    Tensor<double> dx({5, 6});
    layer.backward(saved, dy, dx, false, gradient, pass);
    expect_gradient(x.span(), dx.span(), loss, std::string(name_of(kind)));
    expect_gradients(listed(layer), listed(gradient), loss);
  }
}

TEST(Layers, FeedForwardLayersHaveTheGradientOfEveryActivation) {
  for (const Activation f :
       {Activation::relu, Activation::gelu, Activation::gelu_tanh, Activation::silu,
        Activation::swiglu, Activation::geglu, Activation::geglu_tanh}) {
    NumpyRandom random(7);
    FeedForward<double> layer(4, 10, f, true, random), gradient(4, 10, f, true, random);
    set_to_zero(listed(gradient));
    Tensor<double> x = random_tensor({6, 4}, 8);
    const Tensor<double> dy = random_tensor({6, 4}, 9);
    Workspace memory;
    FeedForward<double>::Saved saved;
    const auto run = [&](Pass& pass) {
      memory.reset();
      const View<double> y = memory.take<double>({6, 4});
      saved = layer.forward(x, y, pass);
      return inner(y, dy);
    };
    const auto loss = [&] {
      Pass pass{.memory = memory, .threads = 1, .dropout = 0.3, .random = {.seed = 11}};
      return run(pass);
    };
    Pass pass{.memory = memory, .threads = 1, .dropout = 0.3, .random = {.seed = 11}};
    run(pass);
    Tensor<double> dx({6, 4});
    layer.backward(saved, dy, dx, gradient, pass);
    expect_gradient(x.span(), dx.span(), loss, std::string(name_of(f)));
    expect_gradients(listed(layer), listed(gradient), loss);
  }
}

}  // namespace
}  // namespace sextant
