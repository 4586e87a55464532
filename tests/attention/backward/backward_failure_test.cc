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
#include "support/thread_sanitizer.h"

namespace sextant {
namespace {

thread_local int worker = -1;  // of the executor below; -1: not one of its threads

void wait_for(const std::atomic<bool>& event) {
  while (!event) std::this_thread::yield();
}

// Three workers take a task each, in order. The second asks for more memory than there is, while
// the first is still at work and the third waits.
class MemoryEndsForTheSecond final : public ScoreTerm {
 public:
  TermNeeds needs() const override { return {.parameters = 1}; }
  void check(const CallExtents&) const override {}
  void add(const ScoreTile<float>&) const noexcept override {
    if (worker >= 0) taken_[worker] = true;
  }
  void backward(const ScoreGradient<double>&) const noexcept override {
    if (worker == 2 && !first_added_) third_came_early_ = true;
    if (worker != 0 || first_added_) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    first_added_ = true;
  }
  // Of the second worker, which has a task then.
  [[noreturn]] void end_memory() const {
    taken_[1] = true;
    wait_for(taken_[2]);
    throw std::bad_alloc();
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

std::atomic<const MemoryEndsForTheSecond*> without_memory{nullptr};

}  // namespace
}  // namespace sextant

// ThreadSanitizer has a new of its own, which cannot be replaced. What this rests on, the order of
// tasks of which one throws, is tested there too: order_test.cc.
#if !SEXTANT_THREAD_SANITIZER
// Every allocation of the test's program, in all forms: memory of one form is given back to free().
// Never inline: compilers would compare new with free.
namespace {
void* allocate(std::size_t bytes) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }
}  // namespace
[[gnu::noinline]] void* operator new(std::size_t bytes) {
  if (sextant::worker == 1 && sextant::without_memory != nullptr) {
    sextant::without_memory.load()->end_memory();
  }
  if (void* memory = allocate(bytes)) return memory;
  throw std::bad_alloc();
}
[[gnu::noinline]] void* operator new[](std::size_t bytes) { return operator new(bytes); }
[[gnu::noinline]] void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
[[gnu::noinline]] void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  return allocate(bytes);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
[[gnu::noinline]] void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  std::free(memory);
}
#endif

namespace sextant {
namespace {

TEST(BackwardFailure, OfATaskKeepsTheOthersInOrder) {
#if SEXTANT_THREAD_SANITIZER
  GTEST_SKIP() << "the sanitizer's operator new cannot be made to fail";
#endif
  const Deadline deadline;
  NumpyRandom random(1);
  const std::int64_t q_len = 3 * 128, k_len = 256;  // three tasks
  const auto q = normal<float>(Shape{1, 1, q_len, 16}, random),
             k = normal<float>(Shape{1, 1, k_len, 16}, random),
             v = normal<float>(Shape{1, 1, k_len, 16}, random),
             dout = normal<float>(q.shape(), random);
  const MemoryEndsForTheSecond bias;
  AttentionOptions<float> options;
  options.terms = {&bias};
  options.threads = 3;
  Tensor<float> out(q.shape()), dk(k.shape());
  attention<float>(q, k, v, out, options);
  Tensor<double> gradient(Shape{1});
  set_executor([&](std::int64_t count, int, TaskRef body) { bias.run(count, body); });
  const AttentionGradients<float> wanted{.k = dk, .terms = {gradient}};
  without_memory = &bias;
  EXPECT_THROW(attention_backward<float>(q, k, v, out, dout, wanted, options), std::exception);
  without_memory = nullptr;
  set_executor({});
  EXPECT_FALSE(bias.third_came_early());
}

}  // namespace
}  // namespace sextant
