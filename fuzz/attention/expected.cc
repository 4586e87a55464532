// The float64 oracle for a call of the fuzzer, and error bounds from the operator's arithmetic.
//
// With u half a unit in the last place of 1 and A = |scale| sum_d |q_d k_d|:
// - A score is a chain of head_dim multiply-adds of q_d scale log2(e) and k_d: off by at most
//   (head_dim + 4) u A, and 6 u A more when q and k are turned first (two products and a sum each).
// - The softcap has slope 1 at most and is itself off by some u of the smaller of cap and score.
// - Each of up to five biases is converted and added: 8 u of all magnitudes together.
// - A weight is 2^(s - m): relative 4 u, and (s - m) u for the difference, on top of the error d_j
// of
//   its score. The sum of n weights and the products with v are chains: n u each, and every block
//   of keys may rescale both by a power: 6 u.
// - With factors rounded to bfloat16, a score is off by two more relative errors of 2^-8, and an
// output by those of its weights and values.
// Weights are therefore bounded by intervals: w_j is between e^(s_j - d_j) / (e^(s_j - d_j) + sum
// of e^(s_l + d_l)) and the same with all signs turned. This holds for errors of any size.
#include "expected.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::fuzz {
namespace {

constexpr double kHidden = -std::numeric_limits<double>::infinity();
// Numbers below 2^-126 may be taken as 0; the largest of the others in these calls are 2^14.
constexpr double kFlushed = 0x1p-100;

template <class T>
Tensor<double> numbers(const Tensor<T>& values, const Tensor<Poison>& bad, std::int64_t more_rows) {
  const std::int64_t rows = values.size(2), width = values.size(3);
  Tensor<double> result(Shape{values.size(0), values.size(1), rows + more_rows, width});
  for (std::int64_t b = 0; b < values.size(0); ++b)
    for (std::int64_t h = 0; h < values.size(1); ++h)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t d = 0; d < width && bad(b, h, i) == Poison::none; ++d)
          result(b, h, i, d) = static_cast<double>(values(b, h, i, d));
  return result;
}

// Turns x [batch, heads, length, head_dim], row (b, i) by position(b, i). `magnitudes` gets the
// sums of magnitudes that the results are made of.
template <class Position>
void turn(Tensor<double>& x, Tensor<double>& magnitudes, const RotationTable<float>& table,
          std::int64_t rows, const Position& position) {
  const std::int64_t pairs = table.cos.size(1), first = table.first_channel;
  const bool adjacent = table.layout == RotaryLayout::interleaved;
  for (std::int64_t b = 0; b < x.size(0); ++b)
    for (std::int64_t h = 0; h < x.size(1); ++h)
      for (std::int64_t i = 0; i < rows; ++i)
        for (std::int64_t p = 0; p < pairs; ++p) {
          const std::int64_t c1 = first + (adjacent ? 2 * p : p);
          const std::int64_t c2 = first + (adjacent ? 2 * p + 1 : p + pairs);
          const auto cos = static_cast<double>(table.cos(position(b, i), p));
          const auto sin = static_cast<double>(table.sin(position(b, i), p));
          const double x1 = x(b, h, i, c1), x2 = x(b, h, i, c2);
          x(b, h, i, c1) = x1 * cos - x2 * sin;
          x(b, h, i, c2) = x1 * sin + x2 * cos;
          magnitudes(b, h, i, c1) = std::abs(x1 * cos) + std::abs(x2 * sin);
          magnitudes(b, h, i, c2) = std::abs(x1 * sin) + std::abs(x2 * cos);
        }
}

Tensor<double> magnitudes_of(const Tensor<double>& x) {
  auto result = x.clone();
  for (double& value : result.span()) value = std::abs(value);
  return result;
}

// log(sum of e^x) of some numbers, of which the largest may be beyond the range of e^x.
class LogSum {
 public:
  void add(double x) { all_.push_back(x); }
  double value() const {
    const double most = *std::max_element(all_.begin(), all_.end());
    double sum = 0;
    for (const double x : all_) sum += std::exp(x - most);
    return most + std::log(sum);
  }

 private:
  std::vector<double> all_;
};

// e^x without overflow in sums of a few hundred.
double bounded_exp(double x) { return std::exp(std::min(x, 690.0)); }

}  // namespace

template <class T>
Expected::Expected(const Call<T>& call)
    : unit_(std::same_as<T, double> ? 0x1p-53 : 0x1p-24),
      rounded_(call.options.matmul_precision == MatmulPrecision::bfloat16 ? 0x1.01p-7 : 0) {
  const bool sinks = !call.sinks.empty();
  oracle_.q = numbers(call.q.dense, call.bad_q, 0);
  oracle_.k = numbers(call.k.dense, call.bad_k, sinks ? 1 : 0);
  oracle_.v = numbers(call.v.dense, call.bad_v, sinks ? 1 : 0);
  auto q_sizes = magnitudes_of(oracle_.q), k_sizes = magnitudes_of(oracle_.k);
  const std::int64_t positions = call.rotation.cos.size(0);
  if (call.options.rotation != nullptr && positions > 0) {
    turn(oracle_.q, q_sizes, call.rotation, call.q_len,
         [&](std::int64_t b, std::int64_t i) { return call.diagonal_key(b, i); });
    turn(oracle_.k, k_sizes, call.rotation, call.k_len, [&](std::int64_t, std::int64_t j) {
      return std::min(j - call.key_begin(j), positions - 1);  // padding may have none
    });
  }
  oracle_.scale = call.options.scale.value_or(1 / std::sqrt(static_cast<double>(call.head_dim)));
  oracle_.softcap = call.options.softcap;
  oracle_.added = [&](std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) {
    return j < call.k_len ? call.added(b, h, i, j) : call.sinks[static_cast<std::size_t>(h)];
  };
  result_ = reference::attend(oracle_);

  const Shape& pairs = result_.scores.shape();
  score_error_ = Tensor<double>(pairs);
  capped_error_ = Tensor<double>(pairs);
  biased_error_ = Tensor<double>(pairs);
  const double chain = static_cast<double>(call.head_dim + 4) + (call.options.rotation ? 6 : 0);
  for (std::int64_t b = 0; b < pairs[0]; ++b)
    for (std::int64_t h = 0; h < pairs[1]; ++h)
      for (std::int64_t i = 0; i < pairs[2]; ++i)
        for (std::int64_t j = 0; j < pairs[3]; ++j) {
          double size = 0;
          const double *q_row = &q_sizes(b, h, i, 0), *k_row = &k_sizes(b, h / call.group(), j, 0);
          for (std::int64_t d = 0; d < call.head_dim; ++d) size += q_row[d] * k_row[d];
          size *= std::abs(oracle_.scale);
          const double error = (chain * (unit_ + 0x1p-53) + rounded_) * size + kFlushed;
          const double cap = oracle_.softcap;
          const double after =
              cap == 0 ? error : std::min(2 * cap, error + 16 * unit_ * std::min(cap, size));
          const bool key = j < call.k_len;
          const double biases = key ? call.weight_of_added(b, h, i, j)
                                    : std::abs(call.sinks[static_cast<std::size_t>(h)]);
          score_error_(b, h, i, j) = error;
          capped_error_(b, h, i, j) = after;
          biased_error_(b, h, i, j) =
              after + 8 * unit_ * (std::abs(result_.capped(b, h, i, j)) + biases);
        }
}

template <class T>
Expected::Row Expected::row(const Call<T>& call, std::int64_t b, std::int64_t h,
                            std::int64_t i) const {
  Row row;
  const std::int64_t keys = result_.biased.size(3), key_head = h / call.group();
  double most = kHidden;
  for (std::int64_t j = 0; j < keys; ++j) most = std::max(most, result_.biased(b, h, i, j));
  row.log_sum_exp = {kHidden, kHidden};
  row.weights.assign(static_cast<std::size_t>(keys), {0, 0});
  if (most == kHidden) return row;

  row.kind = Row::Kind::numbers;
  double least_sum = 0, most_sum = 0;
  LogSum least_log, most_log;
  std::vector<Interval> powers(static_cast<std::size_t>(keys), {0, 0});
  for (std::int64_t j = 0; j < keys; ++j) {
    const double score = result_.biased(b, h, i, j);
    if (score == kHidden) continue;
    if (j < call.k_len) {
      const Poison k = call.bad_k(b, key_head, j), q = call.bad_q(b, h, i);
      if (k == Poison::nan || q == Poison::nan) row.kind = Row::Kind::nan;
      const bool other = k == Poison::infinity || q == Poison::infinity ||
                         call.bad_v(b, key_head, j) != Poison::none;
      if (other && row.kind != Row::Kind::nan) row.kind = Row::Kind::unknown;
    }
    const double off = biased_error_(b, h, i, j) + 2 * unit_ * std::abs(score - most) + 4 * unit_;
    auto& power = powers[static_cast<std::size_t>(j)];
    power = {bounded_exp(score - most - off), bounded_exp(score - most + off)};
    least_log.add(score - off);
    most_log.add(score + off);
    least_sum += power.least;
    most_sum += power.most;
  }
  for (std::int64_t j = 0; j < keys; ++j) {
    const Interval power = powers[static_cast<std::size_t>(j)];
    if (power.most == 0) continue;
    const double least_rest = std::max(0.0, least_sum - power.least);
    const double most_rest = std::max(0.0, most_sum - power.most);
    const double least_all = power.least + most_rest, most_all = power.most + least_rest;
    row.weights[static_cast<std::size_t>(j)] = {least_all > 0 ? power.least / least_all : 0,
                                                most_all > 0 ? power.most / most_all : 1};
  }
  // Stored in float32; and what is below -2^126 may be as far down as exponents of 2 go, not of e.
  const double log_error =
      unit_ * (static_cast<double>(keys) + 64) + (most < -0x1p126 ? 0.5 : 0x1p-22) * std::abs(most);
  row.log_sum_exp = {least_log.value() - log_error, most_log.value() + log_error};
  return row;
}

template <class T>
Interval Expected::output(const Call<T>& call, const Row& row, std::int64_t b, std::int64_t h,
                          std::int64_t i, std::int64_t c) const {
  const std::int64_t keys = result_.biased.size(3);
  double off = 0, size = 0, least = std::numeric_limits<double>::infinity(), most = -least;
  const double want = result_.output(b, h, i, c);
  for (std::int64_t j = 0; j < keys; ++j) {
    const double p = result_.probabilities(b, h, i, j);
    const Interval w = row.weights[static_cast<std::size_t>(j)];
    if (w.most == 0) continue;
    const double value = oracle_.v(b, h / call.group(), j, c);
    off += std::max(w.most - p, p - w.least) * std::abs(value);
    size = std::max(size, std::abs(value));
    least = std::min(least, value);
    most = std::max(most, value);
  }
  // Chains of n, and a rescaling per block of 128.
  const double chains =
      unit_ * (2 * static_cast<double>(keys) + 64 + static_cast<double>(keys) / 16) * size +
      rounded_ * size + kFlushed;
  // A mean is between the smallest and the largest, however wrong its weights are.
  return {std::max(want - off, least) - chains, std::min(want + off, most) + chains};
}

Interval Expected::score(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  const double exact = result_.scores(b, h, i, j), off = score_error_(b, h, i, j);
  return {exact - off, exact + off};
}

Interval Expected::capped(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  const double exact = result_.capped(b, h, i, j), off = capped_error_(b, h, i, j);
  return {exact - off, exact + off};
}

Interval Expected::biased(std::int64_t b, std::int64_t h, std::int64_t i, std::int64_t j) const {
  const double exact = result_.biased(b, h, i, j), off = biased_error_(b, h, i, j);
  return exact == kHidden ? Interval{exact, exact} : Interval{exact - off, exact + off};
}

#define SEXTANT_INSTANTIATE(T)                                                                   \
  template Expected::Expected(const Call<T>&);                                                   \
  template Expected::Row Expected::row(const Call<T>&, std::int64_t, std::int64_t, std::int64_t) \
      const;                                                                                     \
  template Interval Expected::output(const Call<T>&, const Row&, std::int64_t, std::int64_t,     \
                                     std::int64_t, std::int64_t) const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::fuzz
