// Gradients: the forward pass and its row sums are given, as they are when a model is trained.
#include "sextant/attention/backward.h"

#include "attention/arrays.h"
#include "support/peak.h"

namespace sextant::bench {
namespace {

struct Training {
  std::shared_ptr<Arrays<float>> arrays;
  Tensor<float> log_sum_exp, dout, dq, dk, dv, dbias;
};

// Five products per visible pair and channel: scores, dv, dP, dq and dk.
double operations(const Problem& problem) {
  return 10 * visible_pairs(problem) * static_cast<double>(problem.head_dim * problem.heads);
}

std::shared_ptr<Training> make_training(const Problem& problem) {
  auto t = std::make_shared<Training>();
  t->arrays = make_arrays<float>(problem);
  Arrays<float>& a = *t->arrays;
  const Shape shape = a.q.shape();
  t->log_sum_exp = Tensor<float>({shape[0], shape[1], shape[2]});
  t->dout = uniform<float>(shape, kSeedOutGradient);
  t->dq = Tensor<float>(shape);
  t->dk = Tensor<float>(shape);
  t->dv = Tensor<float>(shape);
  if (problem.bias == "distance") t->dbias = Tensor<float>(a.bias.values.shape());
  attention<float>(a.q, a.k, a.v, a.out, a.options(problem, 0), t->log_sum_exp);
  return t;
}

Work call(std::shared_ptr<Training> t, const Problem& problem) {
  return [t, problem](int threads) {
    Arrays<float>& a = *t->arrays;
    AttentionGradients<float> gradients{.q = t->dq, .k = t->dk, .v = t->dv};
    if (problem.bias == "distance") gradients.bias.values = t->dbias;
    attention_backward<float>(a.q, a.k, a.v, a.out, t->dout, gradients, a.options(problem, threads),
                              t->log_sum_exp);
    return operations(problem);
  };
}

}  // namespace

Prepared prepare_backward(const Problem& problem) {
  const auto training = make_training(problem);
  Prepared prepared{.run = call(training, problem), .yardstick = multiply_add, .check = [training] {
                      return summary(training->dq);
                    }};
  if (has_bias(problem)) {
    const Problem plain = without_bias(problem);
    prepared.plain = call(make_training(plain), plain);
  }
  return prepared;
}

}  // namespace sextant::bench
