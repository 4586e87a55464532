// Whether arrays share memory: a sum of strides that leads from an element of one to one of the
// other.
#include "core/arrays/overlap.h"

#include <algorithm>
#include <numeric>

namespace sextant {
namespace {

// Steps of one length: first .. last of them lead from a byte of one array to one of the other.
struct Steps {
  std::int64_t stride;
  std::int64_t first, last;
};

// Whether steps[0], steps[1], ... can add up to a distance. Nested strides leave one or two choices
// for each of them.
class Search {
 public:
  explicit Search(const Footprint& a, const Footprint& b) {
    const auto add = [&](std::int64_t stride, std::int64_t first, std::int64_t last) {
      const auto same = std::find_if(steps_.begin(), steps_.begin() + count_,
                                     [&](const Steps& one) { return one.stride == stride; });
      if (same == steps_.begin() + count_) {
        steps_[static_cast<std::size_t>(count_++)] = {stride, first, last};
        return;
      }
      same->first += first;
      same->last += last;
    };
    for (int n = 0; n < a.rank; ++n) {
      const Footprint::Axis& axis = a.axes[static_cast<std::size_t>(n)];
      add(axis.stride, 0, axis.count - 1);
    }
    for (int n = 0; n < b.rank; ++n) {
      const Footprint::Axis& axis = b.axes[static_cast<std::size_t>(n)];
      add(axis.stride, 1 - axis.count, 0);
    }
    std::sort(steps_.begin(), steps_.begin() + count_,
              [](const Steps& x, const Steps& y) { return x.stride > y.stride; });
    for (int n = count_; n-- > 0;) {
      const Steps& one = at(n);
      rest_[static_cast<std::size_t>(n)] = {std::gcd(rest(n + 1).stride, one.stride),
                                            rest(n + 1).first + one.stride * one.first,
                                            rest(n + 1).last + one.stride * one.last};
    }
  }

  bool reaches(std::int64_t distance) { return reaches(0, distance); }

 private:
  static constexpr int kMax = 2 * (kMaxRank + 1);
  static constexpr int kMaxTries = 4096;

  const Steps& at(int n) const { return steps_[static_cast<std::size_t>(n)]; }
  // For steps n and all after it: their common divisor, and the limits of their sums.
  const Steps& rest(int n) const { return rest_[static_cast<std::size_t>(n)]; }

  bool reaches(int n, std::int64_t distance) {
    if (distance < rest(n).first || distance > rest(n).last) return false;
    if (n == count_) return distance == 0;
    if (distance % rest(n).stride != 0) return false;
    // How many of these steps leave a distance that the smaller ones may cover.
    const std::int64_t stride = at(n).stride;
    const std::int64_t least = distance - rest(n + 1).last, most = distance - rest(n + 1).first;
    const std::int64_t first = std::max(at(n).first, least / stride + (least % stride > 0 ? 1 : 0));
    const std::int64_t last = std::min(at(n).last, most / stride - (most % stride < 0 ? 1 : 0));
    for (std::int64_t count = first; count <= last && tries_ < kMaxTries; ++count) {
      ++tries_;
      if (reaches(n + 1, distance - count * stride)) return true;
    }
    return false;
  }

  std::array<Steps, kMax> steps_{};
  std::array<Steps, kMax + 1> rest_{};  // the last: {0, 0, 0}
  int count_ = 0, tries_ = 0;
};

std::int64_t bytes(const Footprint& array) {
  std::int64_t sum = 1;
  for (int n = 0; n < array.rank; ++n) {
    const Footprint::Axis& axis = array.axes[static_cast<std::size_t>(n)];
    sum += axis.stride * (axis.count - 1);
  }
  return sum;
}

}  // namespace

void Footprint::add(std::int64_t stride, std::int64_t count) noexcept {
  if (rank == 0 || (stride != 0 && count > 1)) {
    if (stride < 0) address += static_cast<std::intptr_t>(stride * (count - 1));
    axes[static_cast<std::size_t>(rank++)] = {std::abs(stride), count};
  }
}

bool overlaps(const Footprint& a, const Footprint& b) {
  if (a.rank == 0 || b.rank == 0) return false;
  if (a.address >= b.address + bytes(b) || b.address >= a.address + bytes(a)) return false;
  return Search(a, b).reaches(b.address - a.address);
}

std::string CallArrays::where(std::string_view name) const {
  return std::string(function_) + "." + std::string(name);
}

void CallArrays::add(const Named& array) {
  if (array.footprint.rank > 0) arrays_.push_back(array);
}

void CallArrays::check_apart(const Named& output) const {
  for (const Named& other : arrays_) {
    if (overlaps(other.footprint, output.footprint)) {
      throw Error(where(output.name), "must not overlap " + std::string(other.name));
    }
  }
}

}  // namespace sextant
