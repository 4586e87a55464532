// Checks of a call on ranks: first that all ranks ask for the same, then by the operator's own
// checks on arrays of the whole shapes that have no elements of their own.
#include "ranks/attention/call.h"

#include <algorithm>
#include <string>

#include "ranks/attention/agree.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

// The rows of every rank, which must be those of a division.
template <class T>
Layout layout_of(const char* function, const char* argument, const Communicator& comm,
                 View<const T> part, Division division) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(comm.size()));
  const std::int64_t mine = part.size(2);
  comm.all_gather(std::as_bytes(std::span(&mine, 1)), std::as_writable_bytes(std::span(counts)));
  std::int64_t length = 0;
  for (const std::int64_t count : counts) length += count;
  const Layout layout(division, length, comm.size());
  for (int r = 0; r < comm.size(); ++r) {
    const std::int64_t count = counts[static_cast<std::size_t>(r)];
    if (count == layout.count(r)) continue;
    throw SharedError(in(function, argument), "must have " + std::to_string(layout.count(r)) +
                                                  " of the " + std::to_string(length) +
                                                  " positions on rank " + std::to_string(r) + " (" +
                                                  std::string(name_of(division)) + "), got " +
                                                  std::to_string(count));
  }
  return layout;
}

// A mask of the whole: its axis of queries, where it has one, gets all of them.
template <class M>
View<const M> whole_mask(const char* function, const Communicator& comm, View<const M> mask,
                         std::int64_t own, std::int64_t q_len) {
  const int axis = mask.rank() - 2;
  if (axis < 0 || (mask.size(axis) == 1 && q_len != 1)) return mask;
  together(comm, [&] {
    if (mask.size(axis) == own) return;
    throw Error(in(function, "mask"), "must have a row for each of the " + std::to_string(own) +
                                          " own queries, or 1, got " + mask.shape().to_string());
  });
  std::vector<std::int64_t> sizes(mask.shape().begin(), mask.shape().end());
  sizes[static_cast<std::size_t>(axis)] = q_len;
  return shape_only<M>(Shape(std::span<const std::int64_t>(sizes)));
}

}  // namespace

template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks) {
  together(comm, [&] {
    check_options(function, ranks);
    const auto rank_4 = [&](const char* name, View<const T> x, const char* axes) {
      if (x.rank() != 4) {
        throw Error(in(function, name),
                    std::string("must be ") + axes + ", got " + x.shape().to_string());
      }
      if (x.count() > 0 && x.data() == nullptr) {
        throw Error(in(function, name), "must point to elements, got a null pointer");
      }
    };
    rank_4("q", q, "[batch, heads_q, own positions, head_dim]");
    rank_4("k", k, "[batch, kv_heads, own positions, head_dim]");
    rank_4("v", v, "[batch, kv_heads, own positions, v_dim]");
    if (k.size(2) != v.size(2)) {
      throw Error(in(function, "v"), "must have the positions of k, " + std::to_string(k.size(2)) +
                                         ", got " + std::to_string(v.size(2)));
    }
    if (sizeof(T) == 2 && ranks.transport != Transport::unchanged) {
      throw Error(in(function, "transport"), "must be unchanged for arrays of 16 bits");
    }
  });
  agree(function, comm, q, k, v, options, ranks);
  Call<T> call{{.ranks = ranks,
                .all = {},
                .v_dim = v.size(3),
                .q_layout = layout_of(function, "q", comm, q, ranks.division),
                .k_layout = layout_of(function, "k", comm, k, ranks.division)},
               comm,
               options,
               q,
               k,
               v};
  const std::int64_t q_len = call.q_layout.length(), k_len = call.k_layout.length();
  const auto take_ids = [&](const char* name, MemberView<const std::int64_t>& ids,
                            const Layout& layout, Tensor<std::int64_t>& whole) {
    if (ids.rank() == 1 && ids.data() == nullptr) return;
    together(comm, [&] {
      if (ids.rank() == 2 && ids.size(1) == layout.count(comm.rank())) return;
      throw Error(in(function, name), "must be [batch or 1, " +
                                          std::to_string(layout.count(comm.rank())) +
                                          "], the own positions, got " + ids.shape().to_string());
    });
    whole = gather<std::int64_t>(comm, ids, layout, 1);
    ids = whole;
  };
  take_ids("query_positions", call.options.query_positions, call.q_layout, call.query_ids);
  take_ids("key_positions", call.options.key_positions, call.k_layout, call.key_ids);
  AttentionOptions<T> whole = call.options;
  if (const auto* mask = std::get_if<BoolMask>(&options.mask)) {
    whole.mask = BoolMask(whole_mask(function, comm, *mask, q.size(2), q_len));
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&options.mask)) {
    whole.mask = FloatMask<T>(whole_mask(function, comm, *floats, q.size(2), q_len));
  }
  together(comm, [&] {
    call.all = attention_detail::check_scores<T>(
        function, shape_only<T>(Shape{q.size(0), q.size(1), q_len, q.size(3)}),
        shape_only<T>(Shape{k.size(0), k.size(1), k_len, k.size(3)}), whole);
    attention_detail::check_v<T>(function, call.all,
                                 shape_only<T>(Shape{v.size(0), v.size(1), k_len, v.size(3)}));
  });
  return call;
}

template <class T, class U>
void check_result(const char* function, const char* argument, const Call<T>& call, View<U> view,
                  std::int64_t heads, std::int64_t rows, std::int64_t channels) {
  const Shape wanted = channels < 0 ? Shape{call.all.batch, heads, rows}
                                    : Shape{call.all.batch, heads, rows, channels};
  together(call.comm, [&] {
    if (view.shape() == wanted && (view.count() == 0 || view.data() != nullptr)) return;
    throw Error(in(function, argument),
                "must be " + wanted.to_string() + ", got " + view.shape().to_string());
  });
}

#define SEXTANT_INSTANTIATE(T)                                                                \
  template Call<T> check_call(const char*, const Communicator&, View<const T>, View<const T>, \
                              View<const T>, const AttentionOptions<T>&, const Options&);     \
  template void check_result(const char*, const char*, const Call<T>&, View<T>, std::int64_t, \
                             std::int64_t, std::int64_t);                                     \
  template void check_result(const char*, const char*, const Call<T>&, View<const T>,         \
                             std::int64_t, std::int64_t, std::int64_t);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE
#define SEXTANT_INSTANTIATE(T)                                                                    \
  template void check_result(const char*, const char*, const Call<T>&, View<float>, std::int64_t, \
                             std::int64_t, std::int64_t);                                         \
  template void check_result(const char*, const char*, const Call<T>&, View<const float>,         \
                             std::int64_t, std::int64_t, std::int64_t);
SEXTANT_INSTANTIATE(double)
SEXTANT_INSTANTIATE(float16)
SEXTANT_INSTANTIATE(bfloat16)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
