// Multiplies powers of xPos from one position to the next in double-double.
#include "schemes/rotated/xpos_powers.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace sextant {
namespace {

constexpr std::int64_t kBlock = 64;
// Powers of blocks further from the center are exponentials. Products are off by 2^-102 and
// reciprocals by 2^-100, so 4096 products of 64 make less than 2^-81.
constexpr std::int64_t kChainedBlocks = 4096;

void multiply(std::vector<DoubleDouble>& by, const std::vector<DoubleDouble>& ratio) {
  for (std::size_t k = 0; k < by.size(); ++k) by[k] = by[k] * ratio[k];
}

void store(const std::vector<DoubleDouble>& powers, double* to) {
  for (std::size_t k = 0; k < powers.size(); ++k) to[k] = powers[k].hi;
}

}  // namespace

XposPowers::XposPowers(const std::vector<WideFloat>& zeta, double scale_base,
                       const kernels::Positions& positions, std::int64_t center)
    : pairs_(zeta.size()), center_(center) {
  std::int64_t largest = 0;
  for (std::int64_t row = 0; row < positions.count; ++row) {
    const std::int64_t size = std::abs(positions[row] - center);
    if (blocks_.empty() || blocks_.back() != size / kBlock) blocks_.push_back(size / kBlock);
    largest = std::max(largest, size);
  }
  std::sort(blocks_.begin(), blocks_.end());
  blocks_.erase(std::unique(blocks_.begin(), blocks_.end()), blocks_.end());
  steps_.resize(2 * kBlock * pairs_);
  starts_.resize(2 * blocks_.size() * pairs_);
  const WideFloat inverse = reciprocal(WideFloat(scale_base));
  for (const WideFloat& one : zeta) {
    rates_.push_back(log(one) * inverse);
    largest_rate_ = std::max(largest_rate_, std::fabs(rates_.back().to_double()));
  }
  Powers ratio = exactly(largest > 0 && is_chained(1) ? 1 : 0);
  for (const bool reverse : {false, true}) {
    if (reverse) {
      for (WideFloat& rate : rates_) rate = -rate;
      for (DoubleDouble& power : ratio) power = sextant::reciprocal(power);
    }
    fill(reverse, std::min(largest + 1, kBlock), ratio);
  }
}

std::pair<const double*, const double*> XposPowers::factors(std::int64_t position,
                                                            bool reverse) const noexcept {
  const std::int64_t offset = position - center_, size = std::abs(offset);
  const bool inverse = reverse != (offset < 0);
  const auto block = static_cast<std::size_t>(
      std::lower_bound(blocks_.begin(), blocks_.end(), size / kBlock) - blocks_.begin());
  const auto step = static_cast<std::size_t>(size % kBlock);
  return {starts_.data() + (block + (inverse ? blocks_.size() : 0)) * pairs_,
          steps_.data() + (step + (inverse ? kBlock : 0)) * pairs_};
}

// Returns exp(n rate) of all pairs.
XposPowers::Powers XposPowers::exactly(std::int64_t n) const {
  Powers powers(pairs_, {1, 0});
  for (std::size_t k = 0; k < pairs_ && n != 0; ++k) {
    powers[k] = exp(rates_[k] * WideFloat(static_cast<double>(n))).to_double_double();
  }
  return powers;
}

// Whether the powers of n positions are products: both halves of those are normal numbers up to
// 2^400.
bool XposPowers::is_chained(std::int64_t n) const noexcept {
  return largest_rate_ * static_cast<double>(n) < 400 * std::numbers::ln2;
}

void XposPowers::fill(bool reverse, std::int64_t steps, const Powers& ratio) {
  Powers power = exactly(0);
  double* step = steps_.data() + (reverse ? kBlock * pairs_ : 0);
  for (std::int64_t n = 0; n < steps; ++n, step += pairs_) {
    if (n > 0 && is_chained(n)) multiply(power, ratio);
    if (n > 0 && !is_chained(n)) power = exactly(n);
    store(power, step);
  }
  multiply(power, ratio);
  const Powers block_ratio = power;  // of 64 positions, if any is as far from the center
  power = exactly(0);
  std::int64_t at = 0;  // the block of `power`
  double* start = starts_.data() + (reverse ? blocks_.size() * pairs_ : 0);
  for (const std::int64_t block : blocks_) {
    if (block <= kChainedBlocks && is_chained(kBlock * block)) {
      for (; at < block; ++at) multiply(power, block_ratio);
      store(power, start);
    } else {
      store(exactly(kBlock * block), start);
    }
    start += pairs_;
  }
}

}  // namespace sextant
