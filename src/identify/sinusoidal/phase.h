// Which whole numbers p have a given phase p mod 2 pi: positions that a column of frequency 1
// allows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

namespace sextant::identify {

// Whole numbers p with |p - phase| <= tolerance modulo 2 pi, one after the other: the visits of a
// rotation to an arc come back after one of three distances (three-gap theorem; Slater 1967). 2^64
// is one turn, so that arithmetic modulo a turn is that of uint64_t.
class Visits {
 public:
  Visits(double phase, double tolerance)
      : begin_(turns(phase - tolerance)), arc_(turns(2 * tolerance)) {
    // Best approximations from both sides, one after the other (Stern-Brocot).
    while (up_.turn >= arc_ || down_.turn >= arc_) {
      Return& farther = up_.turn >= down_.turn ? up_ : down_;
      farther.turn -= (&farther == &up_ ? down_ : up_).turn;
      farther.count += (&farther == &up_ ? down_ : up_).count;
    }
  }
  bool has(std::int64_t p) const { return offset(p) < arc_; }
  std::int64_t after(std::int64_t p) const {
    if (offset(p) + up_.turn < arc_) return p + up_.count;
    return p + down_.count + (offset(p) >= down_.turn ? 0 : up_.count);
  }

 private:
  static constexpr std::uint64_t kRadian = 2935890503282001226ULL;  // 2^64 / (2 pi), 0.46 below
  static std::uint64_t turns(double radians) {
    const double turn = radians / (2 * std::numbers::pi);
    return static_cast<std::uint64_t>(std::ldexp(turn - std::floor(turn), 63)) << 1;
  }
  std::uint64_t offset(std::int64_t p) const {
    return static_cast<std::uint64_t>(p) * kRadian - begin_;
  }
  struct Return {  // after this many steps the phase is ahead or behind by this much
    std::int64_t count;
    std::uint64_t turn;
  };
  std::uint64_t begin_, arc_;
  Return up_{1, kRadian}, down_{1, 0 - kRadian};
};

// Calls visit(p) for such numbers of begin .. end, in order, until it returns true.
template <class Visit>
void each_position(double phase, double tolerance, std::int64_t begin, std::int64_t end,
                   const Visit& visit) {
  const double least = std::clamp(tolerance, 1e-9, 1.0);  // kRadian is as good up to 2^32
  std::int64_t p = begin;
  double wide = 1;
  Visits visits(phase, wide);
  while (!visits.has(p)) ++p;
  while (wide > least) {  // the first one: along the visits to ever smaller arcs
    wide = std::max(wide / 2, least);
    const Visits narrow(phase, wide);
    while (!narrow.has(p)) p = visits.after(p);
    visits = narrow;
  }
  while (p <= end && !visit(p)) p = visits.after(p);
}

}  // namespace sextant::identify
