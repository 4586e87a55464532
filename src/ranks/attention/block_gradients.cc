// One call of the operator for each block of own queries and keys of a slice.
#include "ranks/attention/block_gradients.h"

#include <cmath>

namespace sextant::ranks {
namespace {

using attention_detail::is_given;

constexpr std::int64_t kGradientBytes = std::int64_t{32} << 20;  // of one block's gradients of q
constexpr float kLargestLog = 32;  // beyond it, the operator does not take a caller's log-sum-exp

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

}  // namespace

template <class T>
BlockGradients<T>::BlockGradients(const BackwardCall<T>& b)
    : b_(b),
      call_(b.call),
      q_(call_.q),
      k_(call_.k),
      v_(call_.v),
      out_(b.out),
      dout_(b.dout),
      blocks_(query_blocks(call_, call_.all.head_dim, kGradientBytes)),
      dq_(call_.q.shape()),
      dk_(call_.k.shape()),
      dv_(call_.v.shape()) {
  const auto room = [](const auto& wanted, Tensor<double>& sums) {
    if (is_given(wanted)) sums = Tensor<double>(wanted.shape());
  };
  room(b.wanted.bias.values, bias_);
  room(b.wanted.bias.slopes, slopes_);
  room(b.wanted.mask, mask_);
  terms_.resize(b.wanted.terms.size());
  for (std::size_t n = 0; n < terms_.size(); ++n) room(View<double>(b.wanted.terms[n]), terms_[n]);
  shift_large_logs();
}

template <class T>
BlockGradients<T>::OfKeys::OfKeys(const Call<T>& call, std::int64_t keys)
    : k(Shape{call.all.batch, call.all.kv_heads, keys, call.all.head_dim}),
      v(Shape{call.all.batch, call.all.kv_heads, keys, call.v_dim}) {}

// Rows beyond the operator's limit get a shift of all their scores that brings them to 0.
template <class T>
void BlockGradients<T>::shift_large_logs() {
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

template <class T>
typename BlockGradients<T>::OfKeys BlockGradients<T>::work_on(const Slice& slice,
                                                              const std::byte* bytes) {
  KeyArrays<float> arrays;
  unpack(call_, bytes, slice.keys, arrays);
  OfKeys result(call_, slice.keys);
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

template <class T>
void BlockGradients<T>::block(const Piece& queries, const Piece& keys,
                              const KeyArrays<float>& arrays, OfKeys& to) {
  BlockOptions<T, float> options(call_, queries, keys, false);
  const auto rows = [&](View<const float> x) { return x.narrow(2, queries.row, queries.size()); };
  const auto own = [&](View<const float> x) { return x.narrow(2, keys.row, keys.size()); };
  if (shifts_) options.shift_rows(rows(std::as_const(shift_).view()));
  const View<const float> q = rows(q_.view()), k = own(std::as_const(arrays.k).view());
  const View<const float> v = own(std::as_const(arrays.v).view());
  Tensor<float> dq(q.shape()), dk(k.shape()), dv(v.shape()), bias(bias_.shape()),
      slopes(slopes_.shape()), mask;
  std::vector<Tensor<double>> terms;
  for (const Tensor<double>& sums : terms_) terms.emplace_back(sums.shape());
  AttentionGradients<float> wanted{.q = dq, .k = dk, .v = dv, .bias = {}};
  if (bias_.count() > 0) wanted.bias.values = bias;
  if (slopes_.count() > 0) wanted.bias.slopes = slopes;
  if (!terms.empty()) {
    for (Tensor<double>& term : terms) {
      wanted.terms.emplace_back(term.count() > 0 ? term.view() : View<double>());
    }
    wanted.terms.resize(options.options.terms.size());  // and the shift of rows
  }
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
  for (std::size_t n = 0; n < terms.size(); ++n) {
    if (terms[n].count() == 0) continue;
    add<double, double>(std::as_const(terms[n]).view(), terms_[n].view());
  }
  if (mask_.count() > 0) {
    add<double, float>(std::as_const(mask).view(), part_of_mask(mask_.view(), queries, keys));
  }
}

template <class T>
void BlockGradients<T>::take(const Slice& slice, const OfKeys& gradients) {
  std::int64_t row = 0;
  for (const Piece& piece : slice.pieces) {
    add<float, float>(gradients.k.view().narrow(2, row, piece.size()),
                      dk_.view().narrow(2, piece.row, piece.size()));
    add<float, float>(gradients.v.view().narrow(2, row, piece.size()),
                      dv_.view().narrow(2, piece.row, piece.size()));
    row += piece.size();
  }
}

template class BlockGradients<float>;
template class BlockGradients<float16>;
template class BlockGradients<bfloat16>;

}  // namespace sextant::ranks
