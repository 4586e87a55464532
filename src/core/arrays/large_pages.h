// Large pages for memory that will be filled from its beginning: the processor then looks up one
// address where it would look up 512.
#pragma once

#include <cstddef>
#include <cstdint>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace sextant {

// Asks the system for pages of 2 MiB for the whole ones in [data, data + bytes). It is a hint: if
// the system does not have or want them, nothing changes.
inline void ask_for_large_pages([[maybe_unused]] std::byte* data,
                                [[maybe_unused]] std::size_t bytes) noexcept {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = std::uintptr_t{1} << 21;
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  const std::uintptr_t first = (address + kPage - 1) / kPage * kPage;
  const std::uintptr_t end = (address + bytes) / kPage * kPage;
  if (first < end) madvise(data + (first - address), end - first, MADV_HUGEPAGE);
#endif
}

}  // namespace sextant
