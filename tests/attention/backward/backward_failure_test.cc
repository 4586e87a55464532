// A backward call one of whose tasks throws in the middle: it ends with that exception, and the
// tasks around it keep to their order.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "attention/strided.h"
#include "sextant/attention/backward.h"
#include "sextant/core/parallel.h"
#include "support/deadline.h"

namespace sextant {
namespace {

thread_local int worker = -1;  // of the executor below; -1: not one of its threads

void wait_for(const std::atomic<bool>& event) {
  while (!event) std::this_thread::yield();
}

// Three workers take a task each, in order. The second asks for more memory than there is, while
// the first is still at work and the third waits.
class MemoryEndsForTheSecond final : public IndexedBias {
 public:
  void check(const CallExtents&) const override {}
  void fill(const Tile& tile, float* values, std::int64_t row_stride) const noexcept override {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      for (std::int64_t j = 0; j < tile.keys; ++j) values[i * row_stride + j] = 0;
    }
  }
  // A task asks for memory of this size.
  std::int64_t gradient_size() const noexcept override {
    if (worker < 0) return 1;
    taken_[worker] = true;
    if (worker != 1) return 1;
    wait_for(taken_[2]);
    return std::numeric_limits<std::int64_t>::max() / 2;  // nobody tries to find so much
  }
  void accumulate(const Tile&, const float*, std::int64_t, double*) const noexcept override {
    if (worker == 2 && !first_added_) third_came_early_ = true;
    if (worker != 0 || first_added_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first_added_ = true;
  }

  // Worker n begins when the one before has a task.
  void run(std::int64_t count, TaskRef body) const {
    std::vector<std::thread> threads;
    for (int n = 0; n < 3; ++n) {
      threads.emplace_back([this, count, n, body] {
        worker = n;
        if (n > 0) wait_for(taken_[n - 1]);
        for (std::int64_t i = n; i < count; i += 3) body(i);
      });
    }
    for (auto& thread : threads) thread.join();
  }

  bool third_came_early() const { return third_came_early_; }

 private:
  mutable std::atomic<bool> taken_[3]{};
  mutable std::atomic<bool> first_added_{false}, third_came_early_{false};
};

TEST(BackwardFailure, OfATaskKeepsTheOthersInOrder) {
  const Deadline deadline;
  NumpyRandom random(1);
  const std::int64_t q_len = 3 * 128, k_len = 256;  // three tasks
  const auto q = normal<float>(Shape{1, 1, q_len, 16}, random),
             k = normal<float>(Shape{1, 1, k_len, 16}, random),
             v = normal<float>(Shape{1, 1, k_len, 16}, random),
             dout = normal<float>(q.shape(), random);
  const MemoryEndsForTheSecond bias;
  AttentionOptions<float> options;
  options.indexed = &bias;
  options.threads = 3;
  Tensor<float> out(q.shape()), dk(k.shape());
  attention<float>(q, k, v, out, options);
  Tensor<double> gradient(Shape{1});
  set_executor([&](std::int64_t count, int, TaskRef body) { bias.run(count, body); });
  EXPECT_THROW(
      attention_backward<float>(q, k, v, out, dout, {.k = dk, .indexed = gradient}, options),
      std::exception);
  set_executor({});
  EXPECT_FALSE(bias.third_came_early());
}

}  // namespace
}  // namespace sextant
