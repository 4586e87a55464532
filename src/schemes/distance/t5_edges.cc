// Where T5's logarithmic buckets begin, decided in whole numbers: the condition is d^n exact^k >=
// max_distance^k exact^n. Logarithms answer it wherever the two sides differ visibly.
#include "schemes/distance/t5_edges.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace sextant::schemes_detail {
namespace {

// A natural number, the lowest 32 bits first, no zeros at the end.
using Natural = std::vector<std::uint32_t>;

void multiply(Natural& number, std::int64_t factor, std::int64_t times) {
  for (; times > 0; --times) {
    std::uint64_t carry = 0;
    for (std::uint32_t& digit : number) {
      carry += std::uint64_t{digit} * static_cast<std::uint64_t>(factor);
      digit = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) number.push_back(static_cast<std::uint32_t>(carry));
  }
}

bool less(const Natural& a, const Natural& b) {
  if (a.size() != b.size()) return a.size() < b.size();
  return std::lexicographical_compare(a.rbegin(), a.rend(), b.rbegin(), b.rend());
}

bool is_at_edge(std::int64_t d, std::int64_t exact, std::int64_t max_distance, std::int64_t n,
                std::int64_t k) {
  const auto log_of = [](std::int64_t x) { return std::log(static_cast<double>(x)); };
  const double left = static_cast<double>(n) * (log_of(d) - log_of(exact));
  const double right = static_cast<double>(k) * (log_of(max_distance) - log_of(exact));
  // Logarithms below 20, four of them, times at most 2^12, and few roundings: off by less than
  // 2^12 * 20 * 16 * 2^-53 < 2e-10.
  if (std::abs(left - right) > 2e-10) return left > right;
  const std::int64_t common = std::gcd(n, k);  // a^common >= b^common just when a >= b
  Natural first{1}, second{1};
  multiply(first, d, n / common);
  multiply(first, exact, k / common);
  multiply(second, max_distance, k / common);
  multiply(second, exact, n / common);
  return !less(first, second);
}

}  // namespace

std::int64_t t5_edge(std::int64_t exact, std::int64_t max_distance, std::int64_t buckets,
                     std::int64_t k) {
  std::int64_t below = exact,
               above = max_distance;  // k >= 1 keeps `exact` below; k < buckets: max_distance is in
  while (above - below > 1) {
    const std::int64_t middle = below + (above - below) / 2;
    (is_at_edge(middle, exact, max_distance, buckets, k) ? above : below) = middle;
  }
  return above;
}

}  // namespace sextant::schemes_detail
