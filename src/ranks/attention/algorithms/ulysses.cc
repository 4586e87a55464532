// Implements Ulysses: all-to-all to whole sequences of some heads, the operator, and back. Forward
// and backward have the bits of one process, except gradients that are sums over heads of several
// ranks.
#include "core/arrays/each_dtype.h"
#include "ranks/attention/algorithms/algorithms.h"
#include "ranks/attention/algorithms/head_options.h"
#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

// Returns a gradient as one process has it: element by element from the rank of its head, if heads
// are an axis; else the sum over ranks, or the one of the rank that computed all.
template <class W>
void combine(const Communicator& comm, const HeadShare& share, std::int64_t group, View<W> whole,
             int head_axis) {
  Tensor<W> values = copy_of(View<const W>(whole));
  if (share.on_one()) {
    comm.broadcast(0, std::as_writable_bytes(values.span()));
  } else if (head_axis < 0) {
    comm.all_reduce(values.span());
  } else {
    for (int r = 0; r < comm.size(); ++r) {
      const Heads heads = share.of(r);
      if (heads.size() == 0) continue;
      const View<W> rows =
          values.view().narrow(head_axis, heads.begin * group, heads.size() * group);
      Tensor<W> packed = copy_of(View<const W>(rows));
      comm.broadcast(r, std::as_writable_bytes(packed.span()));
      copy_view<W>(std::as_const(packed).view(), rows);
    }
  }
  copy_view<W>(std::as_const(values).view(), whole);
}

template <class W>
bool has_view(const View<W>& view) {
  return attention_detail::is_given(view);
}

// The gradients that are not of q, k, v: whole arrays, of which the operator fills own heads.
template <class T>
struct SharedGradients {
  using Wide = typename AttentionGradients<T>::Wide;

  SharedGradients(const BackwardCall<T>& b, const HeadOptions<T>& own, AttentionGradients<T>& g) {
    const Heads heads = own.queries;
    const auto take = [&](const auto& wanted, auto& room, auto& to, int head_axis) {
      if (!has_view(wanted)) return;
      using Room = std::remove_cvref_t<decltype(room)>;
      room = Room(wanted.shape());
      const bool by_head = head_axis >= 0 && room.size(head_axis) == b.call.all.heads_q;
      if (heads.size() == 0) return;
      to = by_head ? room.view().narrow(head_axis, heads.begin, heads.size()) : room.view();
    };
    take(b.wanted.bias.values, bias, g.bias.values, by_row(b) ? 0 : -1);
    take(b.wanted.bias.slopes, slopes, g.bias.slopes, 0);
    take(b.wanted.sinks, sinks, g.sinks, 0);
    terms.resize(b.wanted.terms.size());
    g.terms.resize(terms.size());
    for (std::size_t n = 0; n < terms.size(); ++n) {
      take(View<double>(b.wanted.terms[n]), terms[n], g.terms[n], -1);
    }
    if (!has_view(b.wanted.mask)) return;
    Shape shape = b.wanted.mask.shape();
    if (b.call.mask_by_row) shape = with_size(shape, shape.rank() - 2, b.call.q_layout.length());
    mask = Tensor<Wide>(shape);
    if (heads.size() == 0) return;
    g.mask = mask_heads(b) < 0 ? mask.view()
                               : mask.view().narrow(mask_heads(b), heads.begin, heads.size());
  }

  static bool by_row(const BackwardCall<T>& b) { return b.wanted.bias.values.size(0) != 1; }
  static int mask_heads(const BackwardCall<T>& b) {
    const int axis = b.wanted.mask.rank() - 3;
    return axis >= 0 && b.wanted.mask.size(axis) != 1 ? axis : -1;
  }

  void finish(const BackwardCall<T>& b, const HeadShare& share) {
    const Communicator& comm = b.call.comm;
    const std::int64_t group = b.call.group();
    const auto give = [&](auto& room, const auto& wanted, int head_axis) {
      if (!has_view(wanted)) return;
      using Element = std::remove_cvref_t<decltype(*room.data())>;
      combine<Element>(comm, share, group, room.view(), head_axis);
      copy_view<Element>(std::as_const(room).view(), wanted);
    };
    give(bias, b.wanted.bias.values, by_row(b) ? 0 : -1);
    give(slopes, b.wanted.bias.slopes, 0);
    give(sinks, b.wanted.sinks, 0);
    for (std::size_t n = 0; n < terms.size(); ++n) {
      give(terms[n], View<double>(b.wanted.terms[n]), -1);
    }
    if (!has_view(b.wanted.mask)) return;
    combine<Wide>(comm, share, group, mask.view(), mask_heads(b));
    if (!b.call.mask_by_row) {
      copy_view<Wide>(std::as_const(mask).view(), b.wanted.mask);
      return;
    }
    const Tensor<Wide> rows = shard_of<Wide>(std::as_const(mask).view(), b.call.q_layout,
                                             comm.rank(), b.wanted.mask.rank() - 2);
    copy_view<Wide>(rows.view(), b.wanted.mask);
  }

  Tensor<Wide> bias, slopes, sinks, mask;
  std::vector<Tensor<double>> terms;
};

}  // namespace

template <class T>
void ulysses_attention(const Call<T>& call, View<T> out, View<float> log_sum_exp) {
  const HeadShare share(call.all.kv_heads, call.size(), false);
  const Heads mine = share.of(call.rank());
  const auto q = to_heads<T>(call.comm, call.q, call.q_layout, share, call.group());
  const auto k = to_heads<T>(call.comm, call.k, call.k_layout, share, 1);
  const auto v = to_heads<T>(call.comm, call.v, call.k_layout, share, 1);
  const HeadOptions<T> own(call, mine);
  Tensor<T> result(Shape{call.all.batch, q.size(1), q.size(2), call.v_dim});
  Tensor<float> logs(Shape{call.all.batch, q.size(1), q.size(2)});
  if (mine.size() > 0) {
    sextant::attention<T>(q, k, v, result.view(), own.options, logs.view());
  }
  from_heads<T>(call.comm, std::as_const(result).view(), call.q_layout, share, call.group(), out);
  const bool wants_logs = call.comm.largest(std::int64_t{log_sum_exp.rank() == 3}) != 0;
  if (!wants_logs) return;
  Tensor<float> spare;
  if (log_sum_exp.rank() != 3) {
    spare = Tensor<float>(Shape{out.size(0), out.size(1), out.size(2)});
    log_sum_exp = spare.view();
  }
  from_heads<float>(call.comm, std::as_const(logs).view(), call.q_layout, share, call.group(),
                    log_sum_exp);
}

template <class T>
void ulysses_backward(const BackwardCall<T>& b, bool on_one) {
  const Call<T>& call = b.call;
  const HeadShare share(call.all.kv_heads, call.size(), on_one);
  const Heads mine = share.of(call.rank());
  const std::int64_t group = call.group();
  const auto by_heads = [&](View<const T> part, const ShardLayout& layout, std::int64_t of) {
    return to_heads<T>(call.comm, part, layout, share, of);
  };
  const auto q = by_heads(call.q, call.q_layout, group);
  const auto k = by_heads(call.k, call.k_layout, 1), v = by_heads(call.v, call.k_layout, 1);
  const auto out = by_heads(b.out, call.q_layout, group),
             dout = by_heads(b.dout, call.q_layout, group);
  const auto logs = to_heads<float>(call.comm, b.log_sum_exp, call.q_layout, share, group);
  const HeadOptions<T> own(call, mine);
  AttentionGradients<T> gradients;
  SharedGradients<T> shared(b, own, gradients);
  Tensor<T> dq, dk, dv;
  const auto want = [&](const View<T>& wanted, Tensor<T>& room, const Tensor<T>& of,
                        MemberView<T>& to) {
    if (!has_view(wanted)) return;
    room = Tensor<T>(of.shape());
    to = room;
  };
  want(b.wanted.q, dq, q, gradients.q);
  want(b.wanted.k, dk, k, gradients.k);
  want(b.wanted.v, dv, v, gradients.v);
  if (mine.size() > 0) {
    sextant::attention_backward<T>(q, k, v, out, dout, gradients, own.options, logs);
  }
  const auto give = [&](const Tensor<T>& from, const ShardLayout& layout, std::int64_t of,
                        const View<T>& to) {
    if (has_view(to)) from_heads<T>(call.comm, from.view(), layout, share, of, to);
  };
  give(dq, call.q_layout, group, b.wanted.q);
  give(dk, call.k_layout, 1, b.wanted.k);
  give(dv, call.k_layout, 1, b.wanted.v);
  shared.finish(b, share);
}

#define SEXTANT_INSTANTIATE(T)                                           \
  template void ulysses_attention(const Call<T>&, View<T>, View<float>); \
  template void ulysses_backward(const BackwardCall<T>&, bool);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
