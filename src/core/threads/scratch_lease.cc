// Blocks of memory by thread and by how many leases the thread has already.
#include "scratch_lease.h"

#include <atomic>
#include <mutex>

#include "sextant/core/scratch.h"

namespace sextant {
namespace {

// Leases deeper than this allocate and free: a generator in a generator in a generator.
constexpr int kMaxKept = 4;

// One thread's blocks. Its owner takes a block, and release_scratch() does, by an exchange with
// null; only the owner puts one back.
class Arena {
 public:
  Arena() {
    const std::lock_guard lock(mutex);
    next_ = first;
    if (next_ != nullptr) next_->before_ = this;
    first = this;
  }
  ~Arena() {
    const std::lock_guard lock(mutex);
    (before_ == nullptr ? first : before_->next_) = next_;
    if (next_ != nullptr) next_->before_ = before_;
    release();
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;

  // The block of the next lease, or none; begin() makes it the newest.
  std::unique_ptr<Tensor<float>> take() noexcept {
    if (leases_ >= kMaxKept) return nullptr;
    return std::unique_ptr<Tensor<float>>(kept_[leases_].exchange(nullptr));
  }
  void begin() noexcept { ++leases_; }
  // Ends the newest lease.
  void end(std::unique_ptr<Tensor<float>> block) noexcept {
    if (--leases_ < kMaxKept) kept_[leases_].store(block.release(), std::memory_order_release);
  }

  // All blocks not in use; returns how many bytes.
  std::int64_t release() noexcept {
    std::int64_t bytes = 0;
    for (auto& kept : kept_) {
      const std::unique_ptr<const Tensor<float>> block(kept.exchange(nullptr));
      if (block != nullptr) bytes += block->count() * static_cast<std::int64_t>(sizeof(float));
    }
    return bytes;
  }

  static std::int64_t release_all() noexcept {
    const std::lock_guard lock(mutex);
    std::int64_t bytes = 0;
    for (Arena* arena = first; arena != nullptr; arena = arena->next_) bytes += arena->release();
    return bytes;
  }

 private:
  // For all threads; it has no destructor, because threads may end after main() does.
  static constinit inline std::mutex mutex;
  static constinit inline Arena* first = nullptr;

  Arena* next_ = nullptr;
  Arena* before_ = nullptr;
  std::atomic<Tensor<float>*> kept_[kMaxKept]{};
  int leases_ = 0;
};

Arena& arena() {
  thread_local Arena of_thread;
  return of_thread;
}

}  // namespace

ScratchLease::ScratchLease(std::int64_t floats) {
  Arena& thread_arena = arena();
  block_ = thread_arena.take();
  if (block_ == nullptr) block_ = std::make_unique<Tensor<float>>();
  if (block_->count() < floats) {
    *block_ = Tensor<float>();  // gone before its successor comes
    *block_ = Tensor<float>::uninitialized(Shape{floats});
  }
#ifdef SEXTANT_CHECKS_SCRATCH  // the memory that the last lease forbade
  __asan_unpoison_memory_region(block_->data(), sizeof(float) * block_->count());
#endif
  thread_arena.begin();
}

ScratchLease::~ScratchLease() { arena().end(std::move(block_)); }

std::int64_t release_scratch() noexcept { return Arena::release_all(); }

}  // namespace sextant
