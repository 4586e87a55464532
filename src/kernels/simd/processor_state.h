// Denormals off while kernels run: tiny probabilities would otherwise cost a hundred times a normal
// number each.
#pragma once

#include <cstdint>

#if defined(__SSE__)
#include <xmmintrin.h>
#endif

namespace sextant::kernels {

// While it lives, this thread's denormal inputs and results are zero; before and after, the
// caller's setting applies.
class DenormalsOff {
 public:
  DenormalsOff(const DenormalsOff&) = delete;
  DenormalsOff& operator=(const DenormalsOff&) = delete;
#if defined(__SSE__)
  DenormalsOff() noexcept : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
  ~DenormalsOff() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#elif defined(__aarch64__)
  DenormalsOff() noexcept {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" ::"r"(before_ | (std::uint64_t{1} << 24)));
  }
  ~DenormalsOff() { asm volatile("msr fpcr, %0" ::"r"(before_)); }

 private:
  std::uint64_t before_;
#else
  DenormalsOff() noexcept {}
  ~DenormalsOff() {}
#endif
};

}  // namespace sextant::kernels
