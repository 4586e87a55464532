// Divides scratch into arrays. The same code counts the memory and divides it, so that the two
// cannot differ.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#if defined(__SANITIZE_ADDRESS__)
#define SEXTANT_CHECKS_SCRATCH
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SEXTANT_CHECKS_SCRATCH
#endif
#endif
#ifdef SEXTANT_CHECKS_SCRATCH
#include <sanitizer/asan_interface.h>
#endif

namespace sextant {

// Places arrays from the begin of `memory` on, each on a separate cache line; without memory it
// only counts. Under the address sanitizer arrays begin as NaN, unless they are found again in
// memory with data, and the memory between two of them may not be touched until the lease ends.
template <class T>
class ScratchDivider {
 public:
  explicit ScratchDivider(T* memory = nullptr, bool holds_data = false) noexcept
      : memory_(memory), holds_data_(holds_data) {}

  // `count` numbers of any value, or null without memory.
  T* take(std::int64_t count) noexcept {
    T* const array = memory_ == nullptr ? nullptr : memory_ + size_;
    const std::int64_t lines = (count + kLine - 1) / kLine;
    size_ += (lines + kGuards) * kLine;
#ifdef SEXTANT_CHECKS_SCRATCH
    if (array != nullptr && !holds_data_) {
      __asan_unpoison_memory_region(array, sizeof(T) * static_cast<std::size_t>(lines * kLine));
      std::fill_n(array, lines * kLine, std::numeric_limits<T>::quiet_NaN());
      __asan_poison_memory_region(array + lines * kLine, sizeof(T) * kLine);
    }
#endif
    return array;
  }
  // Likewise; null and nothing where it is not wanted.
  T* take_if(bool wanted, std::int64_t count) noexcept { return wanted ? take(count) : nullptr; }

  // Returns the size of all arrays so far, in numbers.
  std::int64_t size() const noexcept { return size_; }

 private:
  static constexpr std::int64_t kLine = 64 / sizeof(T);
#ifdef SEXTANT_CHECKS_SCRATCH
  static constexpr std::int64_t kGuards = 1;
#else
  static constexpr std::int64_t kGuards = 0;
#endif

  T* memory_;
  [[maybe_unused]] bool holds_data_;
  std::int64_t size_ = 0;
};

}  // namespace sextant
