// The ring backwards: slices of keys and values come by, gradients of the queries stay, and those
// of a slice go back to the rank that it came from while the next slice is worked on.
#include <cmath>
#include <limits>
#include <type_traits>

#include "ranks/attention/block.h"
#include "ranks/attention/forms.h"
#include "ranks/attention/query_blocks.h"
#include "ranks/attention/steps.h"
#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

constexpr std::int64_t kBlockBytes = std::int64_t{32} << 20;  // of one block's gradients of q
constexpr float kLargestLog = 32;  // beyond it, the operator does not take a caller's log-sum-exp

template <class W>
bool is_wanted(const View<W>& view) {
  return attention_detail::is_wanted(view);
}

template <class To, class From>
void add(View<const From> more, View<To> to) {
  if (more.rank() == 1) {
    for (std::int64_t i = 0; i < more.size(0); ++i) {
      to.data()[i * to.stride(0)] += static_cast<To>(more.data()[i * more.stride(0)]);
    }
    return;
  }
  for (std::int64_t i = 0; i < more.size(0); ++i) {
    add<To, From>(more.select(0, i), to.select(0, i));
  }
}

bool all_finite(View<const float> x) {
  if (x.rank() > 1) {
    for (std::int64_t i = 0; i < x.size(0); ++i) {
      if (!all_finite(x.select(0, i))) return false;
    }
    return true;
  }
  bool finite = true;
  for (std::int64_t i = 0; i < x.size(0); ++i) finite &= std::isfinite(x.data()[i * x.stride(0)]);
  return finite;
}

template <class T>
class RingBackward {
 public:
  explicit RingBackward(const BackwardCall<T>& b)
      : b_(b),
        call_(b.call),
        q_(call_.q),
        k_(call_.k),
        v_(call_.v),
        out_(b.out),
        dout_(b.dout),
        blocks_(query_blocks(call_, call_.all.head_dim, kBlockBytes)),
        dq_(call_.q.shape()),
        dk_(call_.k.shape()),
        dv_(call_.v.shape()) {
    const auto room = [](const auto& wanted, Tensor<double>& sums) {
      if (is_wanted(wanted)) sums = Tensor<double>(wanted.shape());
    };
    room(b.wanted.bias.values, bias_);
    room(b.wanted.bias.slopes, slopes_);
    room(b.wanted.mask, mask_);
    room(b.wanted.indexed, indexed_);
    shift_large_logs();
  }

  // Whether the operator's fast path takes everything on this rank.
  bool is_finite() const {
    for (std::int64_t n = 0; n < b_.log_sum_exp.count(); ++n) {
      if (std::isnan(logs_.data()[n]) || logs_.data()[n] == std::numeric_limits<float>::infinity())
        return false;
    }
    return all_finite(q_.view()) && all_finite(k_.view()) && all_finite(v_.view()) &&
           all_finite(out_.view()) && all_finite(dout_.view());
  }
  bool results_are_finite() const {
    return all_finite(dq_.view()) && all_finite(dk_.view()) && all_finite(dv_.view());
  }

  void run() {
    Steps<T> steps(call_);
    steps.begin();
    for (const Slice& slice : slices(call_, call_.rank(), call_.rank())) {
      auto bytes = Tensor<std::byte>::uninitialized(Shape{slice_bytes(call_, slice.keys)});
      pack(call_, slice, bytes.data());
      Gradients own = work_on(slice, bytes.data());
      take(slice, own);
    }
    Gradients sent[2], received[2];
    Exchange exchanges[2];
    const auto finish = [&](std::size_t n) {
      exchanges[n % 2].finish();
      take(steps[n].out, received[n % 2]);
    };
    for (std::size_t n = 0; n < steps.count(); ++n) {
      const std::byte* bytes = steps.fetch(n);
      const auto& step = steps[n];
      if (step.in.keys > 0) sent[n % 2] = work_on(step.in, bytes);
      if (n > 0) finish(n - 1);
      received[n % 2] = Gradients(call_, step.out.keys);
      std::vector<Communicator::Outgoing> sends;
      std::vector<Communicator::Incoming> receives;
      if (step.in.keys > 0) sends.push_back({step.from, bytes_of(sent[n % 2].k), kBackTag});
      if (step.in.keys > 0) sends.push_back({step.from, bytes_of(sent[n % 2].v), kBackTag});
      if (step.out.keys > 0) {
        for (Tensor<float>* each : {&received[n % 2].k, &received[n % 2].v}) {
          receives.push_back({step.to, std::as_writable_bytes(each->span()), kBackTag});
        }
      }
      exchanges[n % 2] = call_.comm.start(sends, receives);
    }
    if (steps.count() > 0) finish(steps.count() - 1);
  }

  void give() {
    const auto rows = [](const Tensor<float>& from, const View<T>& to) {
      if (!is_wanted(to)) return;
      Tensor<T> rounded = Tensor<T>::uninitialized(from.shape());
      std::transform(from.data(), from.data() + from.count(), rounded.data(),
                     [](float value) { return static_cast<T>(value); });
      copy_view<T>(std::as_const(rounded).view(), to);
    };
    rows(dq_, b_.wanted.q);
    rows(dk_, b_.wanted.k);
    rows(dv_, b_.wanted.v);
    const auto sum = [&](Tensor<double>& from, const auto& to, bool over_ranks) {
      if (!is_wanted(to)) return;
      using W = std::remove_cvref_t<decltype(*to.data())>;
      if (over_ranks) call_.comm.all_reduce(from.span());
      Tensor<W> rounded(from.shape());
      std::transform(from.data(), from.data() + from.count(), rounded.data(),
                     [](double value) { return static_cast<W>(value); });
      copy_view<W>(std::as_const(rounded).view(), to);
    };
    sum(bias_, b_.wanted.bias.values, true);
    sum(slopes_, b_.wanted.bias.slopes, true);
    sum(indexed_, b_.wanted.indexed, true);
    const int mask_rows = b_.wanted.mask.rank() - 2;
    sum(mask_, b_.wanted.mask, mask_rows < 0 || b_.wanted.mask.size(mask_rows) == 1);
    if (!is_wanted(b_.wanted.sinks)) return;
    Tensor<double> sinks = sink_gradients();
    sum(sinks, b_.wanted.sinks, true);
  }

 private:
  static constexpr int kBackTag = 1;

  // Of a slice: [batch, kv_heads, keys, ...].
  struct Gradients {
    Tensor<float> k, v;
    Gradients() = default;
    Gradients(const Call<T>& call, std::int64_t keys)
        : k(Shape{call.all.batch, call.all.kv_heads, keys, call.all.head_dim}),
          v(Shape{call.all.batch, call.all.kv_heads, keys, call.v_dim}) {}
  };

  static std::span<const std::byte> bytes_of(const Tensor<float>& numbers) {
    return std::as_bytes(numbers.span());
  }

  // Rows beyond the operator's limit get a shift of all their scores that brings them to 0.
  void shift_large_logs() {
    logs_ = copy_of(b_.log_sum_exp);
    shift_ = Tensor<float>(logs_.shape());
    for (std::int64_t n = 0; n < logs_.count(); ++n) {
      float& log = logs_.data()[n];
      if (!std::isfinite(log) || std::fabs(log) <= kLargestLog) continue;
      shift_.data()[n] = -log;
      log = 0;
      shifts_ = true;
    }
  }

  Gradients work_on(const Slice& slice, const std::byte* bytes) {
    KeyArrays<float> arrays;
    unpack(call_, bytes, slice.keys, arrays);
    Gradients result(call_, slice.keys);
    std::int64_t row = 0;
    for (Piece piece : slice.pieces) {
      piece.row = row;
      row += piece.size();
      for (const Piece& queries : blocks_) {
        const Piece keys = seen_of(call_, queries, piece);
        if (keys.size() > 0) block(queries, keys, arrays, result);
      }
    }
    return result;
  }

  void block(const Piece& queries, const Piece& keys, const KeyArrays<float>& arrays,
             Gradients& to) {
    BlockOptions<T, float> options(call_, queries, keys, false);
    const auto rows = [&](View<const float> x) { return x.narrow(2, queries.row, queries.size()); };
    const auto own = [&](View<const float> x) { return x.narrow(2, keys.row, keys.size()); };
    if (shifts_) options.shift_rows(rows(std::as_const(shift_).view()));
    const View<const float> q = rows(q_.view()), k = own(std::as_const(arrays.k).view());
    const View<const float> v = own(std::as_const(arrays.v).view());
    Tensor<float> dq(q.shape()), dk(k.shape()), dv(v.shape()), bias(bias_.shape()),
        slopes(slopes_.shape()), mask;
    Tensor<double> indexed(indexed_.shape());
    AttentionGradients<float> wanted{.q = dq, .k = dk, .v = dv, .bias = {}};
    if (bias_.count() > 0) wanted.bias.values = bias;
    if (slopes_.count() > 0) wanted.bias.slopes = slopes;
    if (indexed_.count() > 0) wanted.indexed = indexed;
    if (mask_.count() > 0) {
      mask = Tensor<float>(part_of_mask(std::as_const(mask_).view(), queries, keys).shape());
      wanted.mask = mask;
    }
    sextant::attention_backward<float>(q, k, v, rows(out_.view()), rows(dout_.view()), wanted,
                                       options.options, rows(std::as_const(logs_).view()));
    add<float, float>(std::as_const(dq).view(), dq_.view().narrow(2, queries.row, queries.size()));
    add<float, float>(std::as_const(dk).view(), to.k.view().narrow(2, keys.row, keys.size()));
    add<float, float>(std::as_const(dv).view(), to.v.view().narrow(2, keys.row, keys.size()));
    if (bias_.count() > 0) add<double, float>(std::as_const(bias).view(), bias_.view());
    if (slopes_.count() > 0) add<double, float>(std::as_const(slopes).view(), slopes_.view());
    if (indexed_.count() > 0) add<double, double>(std::as_const(indexed).view(), indexed_.view());
    if (mask_.count() > 0) {
      add<double, float>(std::as_const(mask).view(), part_of_mask(mask_.view(), queries, keys));
    }
  }

  // Adds what has come back for own keys.
  void take(const Slice& slice, const Gradients& gradients) {
    std::int64_t row = 0;
    for (const Piece& piece : slice.pieces) {
      add<float, float>(gradients.k.view().narrow(2, row, piece.size()),
                        dk_.view().narrow(2, piece.row, piece.size()));
      add<float, float>(gradients.v.view().narrow(2, row, piece.size()),
                        dv_.view().narrow(2, piece.row, piece.size()));
      row += piece.size();
    }
  }

  // -sum over rows of p delta, with p = exp(sink - log-sum-exp), delta = <out, dout>.
  Tensor<double> sink_gradients() const {
    Tensor<double> sums(Shape{call_.all.heads_q});
    const View<const float> out = out_.view(), dout = dout_.view();
    for (std::int64_t b = 0; b < out.size(0); ++b) {
      for (std::int64_t h = 0; h < out.size(1); ++h) {
        const double sink = call_.options.sinks[static_cast<std::size_t>(h)];
        if (std::isinf(sink)) continue;  // there is none
        for (std::int64_t i = 0; i < out.size(2); ++i) {
          double delta = 0;
          for (std::int64_t c = 0; c < out.size(3); ++c) {
            delta += static_cast<double>(out(b, h, i, c)) * static_cast<double>(dout(b, h, i, c));
          }
          sums(h) -= std::exp(sink - static_cast<double>(b_.log_sum_exp(b, h, i))) * delta;
        }
      }
    }
    return sums;
  }

  const BackwardCall<T>& b_;
  const Call<T>& call_;
  AsFloat<T> q_, k_, v_, out_, dout_;
  std::vector<Piece> blocks_;
  Tensor<float> dq_, dk_, dv_, logs_, shift_;
  Tensor<double> bias_, slopes_, mask_, indexed_;
  bool shifts_ = false;
};

}  // namespace

template <class T>
bool ring_backward(const BackwardCall<T>& b) {
  RingBackward<T> ring(b);
  const auto everywhere = [&](bool finite) {
    return b.call.comm.largest(std::int64_t{!finite}) == 0;
  };
  if (!everywhere(ring.is_finite())) return false;
  ring.run();
  if (!everywhere(ring.results_are_finite())) return false;
  ring.give();
  return true;
}

template bool ring_backward(const BackwardCall<float>&);
template bool ring_backward(const BackwardCall<float16>&);
template bool ring_backward(const BackwardCall<bfloat16>&);

}  // namespace sextant::ranks
