// The gradients of a call against those of the float64 oracle (see gradients.h).
//
// With e_i the relative error of the probabilities of row i and G_i the largest |dO_i| |v_j| that
// it sees, dP_ij and delta_i are at most G_i, so that dS_ij = P_ij (dP_ij - delta_i) is off by at
// most
//   P_ij G_i (4 e_i + 4 (v_dim + n + 32) u + 4 u_out),
// for delta_i is made of outputs that were stored with error u_out. The slope of a softcap, 1 -
// tanh^2, is off by 4 d / cap for a score that is off by d. Sums over n pairs add (n + 32) u of the
// sum of magnitudes.
#include "gradients.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "check.h"
#include "reference/attention_backward.h"
#include "sextant/attention/backward.h"

namespace sextant::fuzz {
namespace {

// A gradient is a sum of terms, each with an error of its own.
struct Sum {
  double value = 0, error = 0, size = 0;
  std::int64_t terms = 0;

  void add(double term, double off, double magnitude) {
    value += term;
    error += off;
    size += magnitude;
    ++terms;
  }
  Interval bounds(double unit) const {
    const double off = error + static_cast<double>(terms + 32) * unit * size + 0x1p-90;
    return {value - off, value + off};
  }
};

template <class T>
double storage_unit() {
  if constexpr (std::same_as<T, float16>) return 0x1p-11;
  if constexpr (std::same_as<T, bfloat16>) return 0x1p-8;
  return std::same_as<T, double> ? 0x1p-53 : 0x1p-24;
}

// The derivative by the score of a pair, and its error.
struct Pair {
  double weight, score, error, size;
};

template <class T>
class Gradients {
 public:
  Gradients(const Call<T>& call, const Expected& expected, const Tensor<double>& dout)
      : call_(call),
        oracle_(expected.oracle()),
        result_(expected.result()),
        dout_(dout),
        exact_(reference::attention_gradient<double>(oracle_, {}, dout)),
        q_(sums(oracle_.q)),
        k_(sums(oracle_.k)),
        v_(sums(oracle_.v)) {
    usable_ = true;
    for (std::int64_t b = 0; b < call.batch; ++b)
      for (std::int64_t h = 0; h < call.heads_q; ++h)
        for (std::int64_t i = 0; i < call.q_len && usable_; ++i) add_row(expected, b, h, i);
  }

  bool usable() const noexcept { return usable_; }
  // One for each pair, in the order of [batch, heads_q, q_len, keys]; a sink is the last key.
  const std::vector<Pair>& pairs() const noexcept { return pairs_; }

  void check_arrays(View<const T> q, View<const T> k, View<const T> v) {
    const auto own = [&](std::int64_t b, std::int64_t i) { return call_.diagonal_key(b, i); };
    const auto place = [&](std::int64_t, std::int64_t j) { return j - call_.key_begin(j); };
    if (q.rank() == 4) check_array("gradient of q", q, q_, oracle_.q.size(2), own, true);
    if (k.rank() == 4) check_array("gradient of k", k, k_, oracle_.k.size(2), place, true);
    if (v.rank() == 4) check_array("gradient of v", v, v_, oracle_.v.size(2), place, false);
  }

 private:
  static std::vector<Sum> sums(const Tensor<double>& x) {
    return std::vector<Sum>(static_cast<std::size_t>(x.count()));
  }

  void add_row(const Expected& expected, std::int64_t b, std::int64_t h, std::int64_t i) {
    const auto kind = expected.row(call_, b, h, i).kind;
    const std::int64_t keys = result_.biased.size(3), kh = h / call_.group();
    if (kind == Expected::Row::Kind::zeros) {
      pairs_.insert(pairs_.end(), static_cast<std::size_t>(keys), Pair{});
      return;
    }
    usable_ = kind == Expected::Row::Kind::numbers;
    double most = -std::numeric_limits<double>::infinity(), off = 0, slope_off = 0, largest = 0;
    for (std::int64_t j = 0; j < keys; ++j) most = std::max(most, result_.biased(b, h, i, j));
    for (std::int64_t j = 0; j < keys; ++j) {
      const double distance = most - result_.biased(b, h, i, j);
      if (distance > 100) continue;  // has no weight, even when its error is half of that
      const Interval score = expected.biased(b, h, i, j), capped = expected.capped(b, h, i, j);
      off = std::max(off, (score.most - score.least) / 2 + 2 * unit_ * distance);
      slope_off = std::max(slope_off, (capped.most - capped.least) / 2);
      double product = 0;
      for (std::int64_t c = 0; c < call_.v_dim; ++c) {
        product += std::abs(dout_(b, h, i, c) * oracle_.v(b, kh, j, c));
      }
      largest = std::max(largest, product);
    }
    const auto n = static_cast<double>(keys + call_.v_dim);
    // log_sum_exp is stored in float32.
    const double relative = std::expm1(2 * off + (2 * n + 100) * unit_ + 0x1p-22 * std::abs(most));
    usable_ = usable_ && relative < 0.05;
    const double cap = oracle_.softcap;
    const double slope = cap > 0 ? std::min(1.0, 4 * slope_off / cap + 16 * unit_) : 0;
    const double error =
        largest * (4 * relative + 4 * (n + 32) * unit_ + 4 * storage_unit<T>() + 2 * slope);
    const double scale = std::abs(oracle_.scale);
    for (std::int64_t j = 0; j < keys; ++j) {
      const double p = result_.probabilities(b, h, i, j), ds = exact_.added(b, h, i, j);
      pairs_.push_back({p, ds, p * error, 2 * p * largest});
      if (p == 0) continue;
      const double bend = cap > 0 ? 1 - std::pow(result_.capped(b, h, i, j) / cap, 2) : 1;
      for (std::int64_t d = 0; d < call_.head_dim; ++d) {
        const double q = oracle_.q(b, h, i, d), k = oracle_.k(b, kh, j, d);
        const double by_score = oracle_.scale * ds * bend;
        at(q_, oracle_.q, b, h, i, d)
            .add(by_score * k, scale * p * error * std::abs(k),
                 scale * 2 * p * largest * std::abs(k));
        at(k_, oracle_.k, b, kh, j, d)
            .add(by_score * q, scale * p * error * std::abs(q),
                 scale * 2 * p * largest * std::abs(q));
      }
      for (std::int64_t c = 0; c < call_.v_dim; ++c) {
        const double term = p * dout_(b, h, i, c);
        at(v_, oracle_.v, b, kh, j, c).add(term, relative * std::abs(term), std::abs(term));
      }
    }
  }

  static Sum& at(std::vector<Sum>& sums, const Tensor<double>& like, std::int64_t b, std::int64_t h,
                 std::int64_t i, std::int64_t d) {
    const std::int64_t n = ((b * like.size(1) + h) * like.size(2) + i) * like.size(3) + d;
    return sums[static_cast<std::size_t>(n)];
  }

  // Sums of two channels of a turned row are turned back: x = x' cos + y' sin, y = y' cos - x' sin.
  void turn_back(std::vector<Sum>& sums, std::size_t row, std::int64_t position) const {
    const auto& table = call_.rotation;
    const std::int64_t pairs = table.cos.size(1);
    const bool adjacent = table.layout == RotaryLayout::interleaved;
    for (std::int64_t p = 0; p < pairs; ++p) {
      const auto first = static_cast<std::size_t>(table.first_channel);
      Sum& x = sums[row + first + static_cast<std::size_t>(adjacent ? 2 * p : p)];
      Sum& y = sums[row + first + static_cast<std::size_t>(adjacent ? 2 * p + 1 : p + pairs)];
      const auto cos = static_cast<double>(table.cos(position, p));
      const auto sin = static_cast<double>(table.sin(position, p));
      const auto mix = [&](double a, double b, double c, double s) {
        return std::abs(a * c) + std::abs(b * s);
      };
      const Sum old = x;
      x.value = old.value * cos + y.value * sin;
      x.error = mix(old.error, y.error, cos, sin);
      x.size = mix(old.size, y.size, cos, sin);
      const Sum other = y;
      y.value = other.value * cos - old.value * sin;
      y.error = mix(other.error, old.error, cos, sin);
      y.size = mix(other.size, old.size, cos, sin);
      x.terms = y.terms = std::max(old.terms, other.terms) + 8;
    }
  }

  template <class Position>
  void check_array(const char* what, View<const T> got, std::vector<Sum>& sums, std::int64_t rows,
                   const Position& position, bool turns) {
    const std::int64_t width = got.size(3);
    for (std::int64_t b = 0; b < got.size(0); ++b)
      for (std::int64_t h = 0; h < got.size(1); ++h)
        for (std::int64_t i = 0; i < got.size(2); ++i) {
          const std::int64_t row = ((b * got.size(1) + h) * rows + i) * width;
          if (turns && call_.options.rotation != nullptr &&
              position(b, i) < call_.rotation.cos.size(0)) {
            turn_back(sums, static_cast<std::size_t>(row), position(b, i));
          }
          for (std::int64_t c = 0; c < width; ++c) {
            const Interval want = sums[static_cast<std::size_t>(row + c)].bounds(unit_);
            check(in(got(b, h, i, c), want), what, static_cast<double>(got(b, h, i, c)), want.least,
                  want.most, b, h, i, c);
          }
        }
  }

  static constexpr double unit_ = std::same_as<T, double> ? 0x1p-53 : 0x1p-24;
  const Call<T>& call_;
  const reference::Attention& oracle_;
  const reference::AttentionResult& result_;
  const Tensor<double>& dout_;
  reference::AttentionGradient exact_;
  std::vector<Sum> q_, k_, v_;
  std::vector<Pair> pairs_;
  bool usable_ = false;
};

// Sums over pairs: calls add(which element, factor) for those of the gradient that a pair goes to.
template <class T, class Wide, class Target>
void check_sums(const char* what, const Call<T>& call, const std::vector<Pair>& pairs,
                View<Wide> got, double unit, const Target& target) {
  const auto values = copy_of(View<const Wide>(got));
  std::vector<Sum> sums(static_cast<std::size_t>(values.count()));
  std::size_t n = 0;
  const std::int64_t keys = call.k_len + (call.sinks.empty() ? 0 : 1);
  for (std::int64_t b = 0; b < call.batch; ++b)
    for (std::int64_t h = 0; h < call.heads_q; ++h)
      for (std::int64_t i = 0; i < call.q_len; ++i)
        for (std::int64_t j = 0; j < keys; ++j) {
          const Pair& pair = pairs[n++];
          if (pair.weight == 0) continue;
          target(b, h, i, j, [&](std::int64_t element, double factor) {
            sums[static_cast<std::size_t>(element)].add(
                factor * pair.score, std::abs(factor) * pair.error, std::abs(factor) * pair.size);
          });
        }
  for (std::int64_t e = 0; e < values.count(); ++e) {
    const Interval want = sums[static_cast<std::size_t>(e)].bounds(unit);
    check(in(values.data()[e], want), what, values.data()[e], want.least, want.most, e);
  }
}

}  // namespace

template <class T>
void check_gradients(const Call<T>& call, const Expected& expected, Choices& choices) {
  using Wide = typename Call<T>::Wide;
  NumpyRandom random = choices.random();
  const auto dout =
      strided<T>(call.out.view.shape(), random, true, [&] { return random.normal(); });
  Tensor<double> dout_numbers(dout.dense.shape());
  for (std::int64_t n = 0; n < dout_numbers.count(); ++n) {
    dout_numbers.data()[n] = static_cast<double>(dout.dense.data()[n]);
  }
  Gradients<T> gradients(call, expected, dout_numbers);
  if (!gradients.usable()) return;

  const auto room = [&](const Shape& shape) {
    return strided<Wide>(shape, random, false, [] { return 7; });
  };
  const auto like = [&](View<const T> view) {
    return strided<T>(view.shape(), random, false, [] { return 7; });
  };
  const auto q = like(call.q.view), k = like(call.k.view), v = like(call.v.view);
  const auto bias = room(call.bias.values.shape()), mask = room(call.float_mask.view.shape());
  const auto slopes = room(Shape{call.heads_q}), sinks = room(Shape{call.heads_q});
  const bool masked = std::holds_alternative<FloatMask<T>>(call.options.mask);
  AttentionGradients<T> wanted;
  if (!choices.one_in(4)) wanted.q = q.view;
  if (!choices.one_in(4)) wanted.k = k.view;
  if (!choices.one_in(4)) wanted.v = v.view;
  if (call.bias.values.rank() == 2 && choices.one_in(2)) wanted.bias.values = bias.view;
  if (masked && choices.one_in(2)) wanted.mask = mask.view;
  if (!call.bias.slopes.empty() && choices.one_in(2)) wanted.bias.slopes = slopes.view;
  if (!call.sinks.empty() && choices.one_in(2)) wanted.sinks = sinks.view;
  const bool has_sums = call.log_sum_exp.view.rank() == 3 && choices.one_in(2);
  attention_backward<T>(call.q.view, call.k.view, call.v.view, call.out.view, dout.view, wanted,
                        call.options,
                        has_sums ? View<const float>(call.log_sum_exp.view) : View<const float>());

  gradients.check_arrays(wanted.q, wanted.k, wanted.v);
  const double unit = std::same_as<T, double> ? 0x1p-53 : 0x1p-24;
  const auto key = [&](std::int64_t j) { return j < call.k_len; };
  const auto distance = [&](std::int64_t b, std::int64_t i, std::int64_t j) {
    return j - call.key_begin(j) - call.diagonal_key(b, i);
  };
  if (wanted.bias.values.rank() == 2) {
    check_sums("gradient of bias", call, gradients.pairs(), wanted.bias.values, unit,
               [&](auto b, auto h, auto i, auto j, auto add) {
                 const std::int64_t row = wanted.bias.values.size(0) == 1 ? 0 : h;
                 if (key(j)) {
                   add(row * wanted.bias.values.size(1) + distance(b, i, j) + call.bias.origin,
                       1.0);
                 }
               });
  }
  if (wanted.bias.slopes.count() > 0) {
    check_sums("gradient of slopes", call, gradients.pairs(), wanted.bias.slopes, unit,
               [&](auto b, auto h, auto i, auto j, auto add) {
                 if (key(j)) add(h, -std::abs(static_cast<double>(distance(b, i, j))));
               });
  }
  if (wanted.sinks.count() > 0) {
    check_sums("gradient of sinks", call, gradients.pairs(), wanted.sinks, unit,
               [&](auto, auto h, auto, auto j, auto add) {
                 if (!key(j)) add(h, 1.0);
               });
  }
  if (masked && wanted.mask.data() != nullptr) {
    check_sums("gradient of mask", call, gradients.pairs(), wanted.mask, unit,
               [&](auto b, auto h, auto i, auto j, auto add) {
                 if (!key(j)) return;
                 const std::int64_t pair[] = {b, h, i, j};
                 std::int64_t n = 0;
                 for (int axis = 0; axis < wanted.mask.rank(); ++axis) {
                   const std::int64_t size = wanted.mask.size(axis);
                   n = n * size + (size == 1 ? 0 : pair[4 - wanted.mask.rank() + axis]);
                 }
                 add(n, 1.0);
               });
  }
}

template void check_gradients(const Call<float>&, const Expected&, Choices&);
template void check_gradients(const Call<double>&, const Expected&, Choices&);
template void check_gradients(const Call<float16>&, const Expected&, Choices&);
template void check_gradients(const Call<bfloat16>&, const Expected&, Choices&);

}  // namespace sextant::fuzz
