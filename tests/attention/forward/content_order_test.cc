// Gradients of content terms are added up in the order of sequences, however late one of them is.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/core/parallel.h"
#include "support/deadline.h"

namespace sextant::content_order_test {
namespace {

// Adds nothing to scores. The gradients of the sequences are 1, 2^60 and -2^60: 0 in this order in
// float64, and 1 where the first, which takes its time, comes last.
class FirstIsLate final : public ScoreTerm {
 public:
  void check(const CallExtents&) const override {}
  TermNeeds needs() const override { return {.before_softcap = true, .parameters = 1}; }
  void add(const ScoreTile<float>&) const noexcept override {}
  void backward(const ScoreGradient<double>& row) const noexcept override {
    if (row.first_query > 0) return;
    if (row.batch == 0) std::this_thread::sleep_for(std::chrono::milliseconds(300));
    *row.parameters += row.batch == 0 ? 1 : row.batch == 1 ? 0x1p60 : -0x1p60;
  }
};

TEST(ContentGradients, AreAddedInTheOrderOfSequences) {
  const Deadline deadline;
  NumpyRandom random(1);
  const auto q = normal<double>(Shape{3, 1, 40, 16}, random), k = normal<double>(q.shape(), random),
             v = normal<double>(q.shape(), random), dout = normal<double>(q.shape(), random);
  const FirstIsLate term;
  AttentionOptions<double> options;
  options.terms = {&term};
  options.threads = 3;
  Tensor<double> out(q.shape()), gradient(Shape{1});
  attention<double>(q, k, v, out, options);
  gradient(0) = 7;
  // A thread for each task, whatever the machine has.
  set_executor([](std::int64_t count, int, TaskRef body) {
    std::vector<std::thread> threads;
    for (std::int64_t n = 0; n < count; ++n) threads.emplace_back([body, n] { body(n); });
    for (auto& thread : threads) thread.join();
  });
  attention_backward<double>(q, k, v, out, dout, {.terms = {gradient}}, options);
  set_executor({});
  EXPECT_EQ(gradient(0), 0);
}

}  // namespace
}  // namespace sextant::content_order_test
