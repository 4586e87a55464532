// Loops that do nothing but use one resource of the processor as hard as possible.
#include "support/peak.h"

#include <algorithm>
#include <cstring>

#include "kernels/simd/targets.h"
#include "sextant/core/parallel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "support/peak.cc"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace sextant::bench::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::ScalableTag<float>;
using V = hn::Vec<D>;

// Fourteen chains: two units with five cycles of latency need ten, a multiplication and an addition
// of three or four cycles each, four of them per cycle, need fourteen, and fourteen with one
// operand fit into the fifteen registers that V8 has. They begin apart, or the compiler would see
// that all are one. The operand comes from memory, where it stays 0.5: V8 makes constants again in
// every step.
double fma_chains(std::size_t steps, float* operand) {
  const D d;
  const V x = hn::Set(d, *operand);
  V a = hn::Add(x, x);
  V b = hn::Add(a, x);
  V c = hn::Add(b, x);
  V e = hn::Add(c, x);
  V f = hn::Add(e, x);
  V g = hn::Add(f, x);
  V h = hn::Add(g, x);
  V i = hn::Add(h, x);
  V j = hn::Add(i, x);
  V k = hn::Add(j, x);
  V l = hn::Add(k, x);
  V m = hn::Add(l, x);
  V n = hn::Add(m, x);
  V o = hn::Add(n, x);
  for (std::size_t step = 0; step < steps; ++step) {
    a = hn::MulAdd(a, x, x);
    b = hn::MulAdd(b, x, x);
    c = hn::MulAdd(c, x, x);
    e = hn::MulAdd(e, x, x);
    f = hn::MulAdd(f, x, x);
    g = hn::MulAdd(g, x, x);
    h = hn::MulAdd(h, x, x);
    i = hn::MulAdd(i, x, x);
    j = hn::MulAdd(j, x, x);
    k = hn::MulAdd(k, x, x);
    l = hn::MulAdd(l, x, x);
    m = hn::MulAdd(m, x, x);
    n = hn::MulAdd(n, x, x);
    o = hn::MulAdd(o, x, x);
  }
  const V left = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), h));
  const V right = hn::Add(hn::Add(hn::Add(i, j), hn::Add(k, l)), hn::Add(hn::Add(m, n), o));
  *operand += 0 * hn::GetLane(hn::SumOfLanes(d, hn::Add(left, right)));
  return 28.0 * static_cast<double>(steps) * static_cast<double>(hn::Lanes(d));
}

// Eight sums hide the latency of the additions.
float sum(const float* HWY_RESTRICT data, std::size_t count) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V zero = hn::Zero(d);
  V a = zero, b = zero, c = zero, e = zero, f = zero, g = zero, h = zero, i = zero;
  std::size_t n = 0;
  for (; n + 8 * lanes <= count; n += 8 * lanes) {
    a = hn::Add(a, hn::LoadU(d, data + n));
    b = hn::Add(b, hn::LoadU(d, data + n + lanes));
    c = hn::Add(c, hn::LoadU(d, data + n + 2 * lanes));
    e = hn::Add(e, hn::LoadU(d, data + n + 3 * lanes));
    f = hn::Add(f, hn::LoadU(d, data + n + 4 * lanes));
    g = hn::Add(g, hn::LoadU(d, data + n + 5 * lanes));
    h = hn::Add(h, hn::LoadU(d, data + n + 6 * lanes));
    i = hn::Add(i, hn::LoadU(d, data + n + 7 * lanes));
  }
  float rest = 0;
  for (; n < count; ++n) rest += data[n];
  const V all =
      hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(f, g), hn::Add(h, i)));
  return rest + hn::GetLane(hn::SumOfLanes(d, all));
}

void scale(float* HWY_RESTRICT data, std::size_t count, float factor) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V by = hn::Set(d, factor);
  std::size_t n = 0;
  for (; n + 4 * lanes <= count; n += 4 * lanes) {
    hn::StoreU(hn::Mul(hn::LoadU(d, data + n), by), d, data + n);
    hn::StoreU(hn::Mul(hn::LoadU(d, data + n + lanes), by), d, data + n + lanes);
    hn::StoreU(hn::Mul(hn::LoadU(d, data + n + 2 * lanes), by), d, data + n + 2 * lanes);
    hn::StoreU(hn::Mul(hn::LoadU(d, data + n + 3 * lanes), by), d, data + n + 3 * lanes);
  }
  for (; n < count; ++n) data[n] *= factor;
}

void stream(float* out, std::size_t count, float value) {
  const D d;
  const std::size_t lanes = hn::Lanes(d);
  const V v = hn::Set(d, value);
  std::size_t n = 0;
  for (; n + lanes <= count; n += lanes) hn::Stream(v, d, out + n);
  for (; n < count; ++n) out[n] = value;
  hwy::FlushStream();
}

}  // namespace sextant::bench::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace sextant::bench {

using kernels::apply_requested_target;

HWY_EXPORT(fma_chains);
HWY_EXPORT(sum);
HWY_EXPORT(scale);
HWY_EXPORT(stream);

namespace {

// The operand of a thread's chains, which no compiler knows, in a cache line of its own.
struct alignas(64) Operand {
  float value = 0.5F;
};

// body(begin, count) for one contiguous part per thread, borders at whole cache lines.
template <class Body>
void share_out(std::size_t count, int threads, const Body& body) {
  const std::size_t lines = (count + 15) / 16;
  const auto parts = static_cast<std::size_t>(threads);
  parallel_for(threads, threads, [&](std::int64_t part) {
    const auto index = static_cast<std::size_t>(part);
    const std::size_t begin = std::min(count, lines * index / parts * 16);
    const std::size_t end = std::min(count, lines * (index + 1) / parts * 16);
    body(begin, end - begin);
  });
}

}  // namespace

double multiply_add(int threads) {
  apply_requested_target();
  constexpr std::size_t kSteps = 500'000;  // of 14 chains: 3.5 million cycles
  static Operand operands[kMaxThreads];
  double operations = 0;
  parallel_for(threads, threads, [&](std::int64_t thread) {
    const double done = HWY_DYNAMIC_DISPATCH(fma_chains)(kSteps, &operands[thread].value);
    if (thread == 0) operations = done * threads;
  });
  return operations;
}

double read_floats(const float* data, std::size_t count, int threads) {
  apply_requested_target();
  share_out(count, threads, [&](std::size_t begin, std::size_t size) {
    volatile float total = HWY_DYNAMIC_DISPATCH(sum)(data + begin, size);
    static_cast<void>(total);
  });
  return 4.0 * static_cast<double>(count);
}

double scale_floats(float* data, std::size_t count, int threads) {
  apply_requested_target();
  share_out(count, threads, [&](std::size_t begin, std::size_t size) {
    HWY_DYNAMIC_DISPATCH(scale)(data + begin, size, 1.0F);
  });
  return 8.0 * static_cast<double>(count);
}

void stream_floats(float* out, std::int64_t count, int threads) {
  apply_requested_target();
  constexpr std::int64_t kPart = 1 << 18;  // 1 MiB
  parallel_for((count + kPart - 1) / kPart, threads, [&](std::int64_t part) {
    const std::int64_t begin = part * kPart;
    const auto size = static_cast<std::size_t>(std::min(kPart, count - begin));
    HWY_DYNAMIC_DISPATCH(stream)(out + begin, size, 1.0F);
  });
}

double copy_floats(const float* from, float* to, std::size_t count, int threads) {
  share_out(count, threads, [&](std::size_t begin, std::size_t size) {
    std::memcpy(to + begin, from + begin, size * sizeof(float));
  });
  return 8.0 * static_cast<double>(count);
}

}  // namespace sextant::bench
#endif
