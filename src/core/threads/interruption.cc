// Looking at whether a call is to end.
#include "core/threads/interruption.h"

#include <utility>

namespace sextant {
namespace {

constexpr std::chrono::milliseconds kPause{50};

thread_local Interruption* interruption_of_thread = nullptr;

}  // namespace

Interruption::Interruption(void (*look)()) noexcept
    : look_(look), next_look_(std::chrono::steady_clock::now() + kPause), adopted_(this) {}

Interruption::~Interruption() = default;

Interruption* Interruption::current() noexcept { return interruption_of_thread; }

Interruption::Adopted::Adopted(Interruption* of_call) noexcept
    : before_(std::exchange(interruption_of_thread, of_call)) {}

Interruption::Adopted::~Adopted() { interruption_of_thread = before_; }

void Interruption::check() {
  if (ended_.load(std::memory_order_relaxed)) throw Ended();
  if (std::this_thread::get_id() != thread_) return;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_look_) return;
  try {
    look_();
  } catch (...) {
    ended_.store(true, std::memory_order_relaxed);
    throw;
  }
  next_look_ = std::chrono::steady_clock::now() + kPause;
}

void check_interruption() {
  if (interruption_of_thread != nullptr) interruption_of_thread->check();
}

}  // namespace sextant
