// Which whole numbers p have a given phase p mod 2 pi? Needed to read a position off the fastest
// column of a table.
#pragma once

#include <cstdint>

namespace sextant::identify {

// The p >= start with |p - phase| <= tolerance modulo 2 pi, in ascending order, each found in
// constant time: the visits of a rotation of the circle to an arc return after one of three
// distances (three-gap theorem; Slater 1967).
class PhaseVisits {
 public:
  // `phase` in radians, 1e-9 <= tolerance <= 1 rad. Exact to 1e-9 rad for p up to 2^32.
  PhaseVisits(double phase, double tolerance, std::int64_t start);
  std::int64_t next();

 private:
  // Modulo 2^64 = one turn: `up_step` whole numbers further on, the phase is `up` ahead;
  // `down_step` further, `down` behind.
  struct Returns {
    std::uint64_t up_step, up, down_step, down;
  };
  static Returns returns_to(std::uint64_t width);
  static void advance(const Returns& returns, std::uint64_t width, std::uint64_t offset,
                      std::int64_t& p);

  std::uint64_t begin_, width_;
  Returns returns_;
  std::int64_t p_;
};

}  // namespace sextant::identify
