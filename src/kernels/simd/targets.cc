// The choice of an instruction set, made once for the process.
#include "kernels/simd/targets.h"

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include <hwy/highway.h>

#include "sextant/core/error.h"
#include "sextant/core/printable.h"

namespace sextant {
namespace {

#if defined(HWY_COMPILE_ONLY_STATIC) && HWY_ARCH_X86
static_assert(HWY_STATIC_TARGET == HWY_AVX2, "builds of one instruction set are of AVX2");
#endif

// WebAssembly has one instruction set and needs no library of Highway's: its headers choose.
#if HWY_ARCH_WASM
std::int64_t supported_targets() { return HWY_STATIC_TARGET; }
void disable_better_than(std::int64_t) {}
#else
std::int64_t supported_targets() {
  const std::int64_t supported = hwy::SupportedTargets();
  // Highway 1.0.3 forgets in that call, for the dispatches to come, which targets are disabled.
  hwy::GetChosenTarget().Update(supported);
  return supported;
}
void disable_better_than(std::int64_t target) { hwy::DisableTargets(target - 1); }
#endif

// Targets are single bits, a better one is a smaller number.
template <class Use>
void for_each_compiled_target(const Use& use) {
  for (auto rest = static_cast<std::uint64_t>(HWY_TARGETS); rest != 0; rest &= rest - 1) {
    use(static_cast<std::int64_t>(rest & (~rest + 1)));
  }
}

// SEXTANT_TARGET; empty when it is not set.
std::string_view requested_target() {
  const char* name = std::getenv("SEXTANT_TARGET");
  return name == nullptr ? std::string_view() : name;
}

}  // namespace

namespace kernels {

void apply_requested_target() noexcept {
  static const bool applied = [] {
    const std::string_view name = requested_target();
    if (name.empty()) return false;
    for_each_compiled_target([&](std::int64_t target) {
      if (std::string_view(hwy::TargetName(target)) == name) disable_better_than(target);
    });
    return true;
  }();
  static_cast<void>(applied);
}

bool is_avx512_allowed() noexcept {
  const std::string_view name = requested_target();
  return name.empty() || name.starts_with("AVX3");
}

}  // namespace kernels

std::string compiled_targets() {
  std::string names;
  for_each_compiled_target([&](std::int64_t target) {
    if (!names.empty()) names += ' ';
    names += hwy::TargetName(target);
  });
  return names;
}

void check_requested_target() {
  const std::string_view name = requested_target();
  if (name.empty()) return;
  bool known = false;
  for_each_compiled_target([&](std::int64_t target) {
    known = known || std::string_view(hwy::TargetName(target)) == name;
  });
  if (known) return;
  throw Error("SEXTANT_TARGET",
              "must be one of " + compiled_targets() + ", got " + printable_quote(name));
}

std::string chosen_target() {
  kernels::apply_requested_target();
  std::string name;
  const std::int64_t supported = supported_targets();
  for_each_compiled_target([&](std::int64_t target) {
    if (name.empty() && (supported & target) != 0) name = hwy::TargetName(target);
  });
  return name;
}

}  // namespace sextant
