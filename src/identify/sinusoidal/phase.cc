// Whole numbers by their phase, in fixed point: 2^64 is one turn, so that arithmetic modulo a turn
// is that of uint64_t.
#include "identify/sinusoidal/phase.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::identify {
namespace {

constexpr std::uint64_t kRadian =
    2935890503282001226ULL;  // 2^64 / (2 pi), 0.46 below: 1e-10 turns off at p = 2^32

std::uint64_t turns(double radians) {
  const double turn = radians / (2 * std::numbers::pi);
  return static_cast<std::uint64_t>(std::ldexp(turn - std::floor(turn), 63)) << 1;
}

}  // namespace

PhaseVisits::Returns PhaseVisits::returns_to(std::uint64_t width) {
  // Best approximations from both sides, one after the other (Stern-Brocot); some hundred steps for
  // 1 / (2 pi).
  Returns r{1, kRadian, 1, 0 - kRadian};
  while (r.up >= width || r.down >= width) {
    if (r.up >= r.down) {
      r.up -= r.down;
      r.up_step += r.down_step;
    } else {
      r.down -= r.up;
      r.down_step += r.up_step;
    }
  }
  return r;
}

void PhaseVisits::advance(const Returns& r, std::uint64_t width, std::uint64_t offset,
                          std::int64_t& p) {
  if (offset + r.up < width) {
    p += static_cast<std::int64_t>(r.up_step);
  } else if (offset >= r.down) {
    p += static_cast<std::int64_t>(r.down_step);
  } else {
    p += static_cast<std::int64_t>(r.up_step + r.down_step);
  }
}

PhaseVisits::PhaseVisits(double phase, double tolerance, std::int64_t start)
    : begin_(turns(phase - std::clamp(tolerance, 1e-9, 1.0))),
      width_(turns(2 * std::clamp(tolerance, 1e-9, 1.0))),
      returns_(returns_to(width_)),
      p_(start) {
  // The first visit: halve the arc from a half turn down to the wanted one, each time stepping
  // along the wider arc's visits.
  const auto offset = [&](std::uint64_t begin) {
    return static_cast<std::uint64_t>(p_) * kRadian - begin;
  };
  int doublings = 0;
  while ((width_ << doublings) < (1ULL << 62)) ++doublings;
  const std::uint64_t widest = width_ << doublings;
  const auto begin_of = [&](std::uint64_t width) { return begin_ - (width - width_) / 2; };
  while (offset(begin_of(widest)) >= widest) ++p_;
  for (; doublings > 0; --doublings) {
    const std::uint64_t wide = width_ << doublings;
    const std::uint64_t narrow = wide >> 1;
    const Returns step = returns_to(wide);
    while (offset(begin_of(narrow)) >= narrow) advance(step, wide, offset(begin_of(wide)), p_);
  }
}

std::int64_t PhaseVisits::next() {
  const std::int64_t found = p_;
  advance(returns_, width_, static_cast<std::uint64_t>(p_) * kRadian - begin_, p_);
  return found;
}

}  // namespace sextant::identify
