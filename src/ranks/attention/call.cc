// Checks a call on ranks: first that all ranks make the same call, then by the operator's checks on
// arrays of the full shapes without elements.
#include "ranks/attention/call.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "core/arrays/each_dtype.h"
#include "ranks/attention/rotation_by_index.h"
#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

// The rows of every rank, which must be those of a sharding.
ShardLayout layout_of(const char* function, const char* argument, Sharding sharding,
                      std::span<const std::int64_t> counts) {
  const std::int64_t length = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const ShardLayout layout(sharding, length, static_cast<int>(counts.size()));
  for (int r = 0; r < layout.ranks(); ++r) {
    const std::int64_t count = counts[static_cast<std::size_t>(r)];
    if (count == layout.count(r)) continue;
    throw SharedError(name_in(function, argument), "must have " + std::to_string(layout.count(r)) +
                                                       " of the " + std::to_string(length) +
                                                       " positions on rank " + std::to_string(r) +
                                                       " (" + std::string(name_of(sharding)) +
                                                       "), got " + std::to_string(count));
  }
  return layout;
}

// Rows of a mask, along its axis of queries; -1: it has none.
template <class M>
std::int64_t mask_rows(const AttentionOptionsOf<M>& options) {
  const auto rows = [](const auto& mask) {
    return mask.rank() < 2 ? std::int64_t{-1} : mask.size(mask.rank() - 2);
  };
  if (const auto* mask = std::get_if<BoolMask>(&options.mask)) return rows(*mask);
  if (const auto* floats = std::get_if<View<const M>>(&options.mask)) return rows(*floats);
  return -1;
}

// Whether masks have a row for each query: as many as there are queries on every rank. If not, all
// have one for all queries.
bool is_by_row(const char* function, std::span<const std::int64_t> rows,
               std::span<const std::int64_t> queries) {
  if (std::equal(rows.begin(), rows.end(), queries.begin())) return true;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (rows[r] == 1 || rows[r] == -1) continue;
    throw SharedError(name_in(function, "mask"),
                      "must have a row for each of the own queries, or 1 on all ranks, got " +
                          std::to_string(rows[r]) + " for " + std::to_string(queries[r]) +
                          " queries on rank " + std::to_string(r));
  }
  return false;
}

// The shape of the mask of the whole: its axis of queries, where it has one by row, gets all.
template <class T, class M>
View<const M> whole_mask(const Call<T>& call, View<const M> mask) {
  if (!call.mask_by_row) return mask;
  return shape_only<M>(with_size(mask.shape(), mask.rank() - 2, call.q_layout.length()));
}

template <class T>
void check_array(const char* function, const char* argument, View<const T> x, const char* axes) {
  if (x.rank() != 4) {
    throw Error(name_in(function, argument),
                std::string("must be ") + axes + ", got " + x.shape().to_string());
  }
  if (x.count() > 0 && x.data() == nullptr) {
    throw Error(name_in(function, argument), "must point to elements, got a null pointer");
  }
}

bool are_given(View<const std::int64_t> ids) { return ids.rank() != 1 || ids.data() != nullptr; }

void check_ids(const char* function, const char* argument, View<const std::int64_t> ids,
               std::int64_t rows) {
  if (!are_given(ids) || (ids.rank() == 2 && ids.size(1) == rows)) return;
  throw Error(name_in(function, argument), "must be [batch or 1, " + std::to_string(rows) +
                                               "], the own positions, got " +
                                               ids.shape().to_string());
}

// The arguments as a rank sees them.
template <class T>
void check_parts(const char* function, View<const T> q, View<const T> k, View<const T> v,
                 const AttentionOptions<T>& options, const Options& ranks) {
  check_options(function, ranks);
  check_array<T>(function, "q", q, "[batch, heads_q, own positions, head_dim]");
  check_array<T>(function, "k", k, "[batch, kv_heads, own positions, head_dim]");
  check_array<T>(function, "v", v, "[batch, kv_heads, own positions, v_dim]");
  if (k.size(2) != v.size(2)) {
    throw Error(name_in(function, "v"), "must have the positions of k, " +
                                            std::to_string(k.size(2)) + ", got " +
                                            std::to_string(v.size(2)));
  }
  if (sizeof(T) == 2 && ranks.wire_type != WireType::unchanged) {
    throw Error(name_in(function, "wire_type"), "must be unchanged for arrays of 16 bits");
  }
  check_ids(function, "query_positions", options.query_positions, q.size(2));
  check_ids(function, "key_positions", options.key_positions, k.size(2));
}

// The operator's checks, on arrays of the whole shapes.
template <class T>
void check_whole(const char* function, Call<T>& call) {
  const std::int64_t q_len = call.q_layout.length(), k_len = call.k_layout.length();
  const auto whole = [](View<const T> part, std::int64_t rows) {
    return shape_only<T>(Shape{part.size(0), part.size(1), rows, part.size(3)});
  };
  AttentionOptions<T> options = call.options;
  if (const auto* mask = std::get_if<BoolMask>(&call.options.mask)) {
    options.mask = BoolMask(whole_mask(call, BoolMask(*mask)));
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&call.options.mask)) {
    options.mask = FloatMask<T>(whole_mask(call, FloatMask<T>(*floats)));
  }
  call.all =
      attention_detail::check_scores(function, whole(call.q, q_len), whole(call.k, k_len), options);
  attention_detail::check_v(function, call.all, whole(call.v, k_len));
  attention_detail::check_no_dropout(function, call.all, "ranks drop no weights");
}

}  // namespace

template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks,
                   const std::function<void()>& own, const Agreement& also) {
  const auto rows = [](View<const T> x) { return x.rank() == 4 ? x.size(2) : 0; };
  const auto check_own_arrays = [&] {
    check_parts<T>(function, q, k, v, options, ranks);
    if (own) own();
  };
  std::vector<std::int64_t> queries, keys, rows_of_masks;
  for (const auto& [of_q, of_k, of_mask] :
       agreement_on<T>(function, q, k, v, options, ranks)
           .add(also)
           .check(comm, check_own_arrays, {rows(q), rows(k), mask_rows(options)})) {
    queries.push_back(of_q);
    keys.push_back(of_k);
    rows_of_masks.push_back(of_mask);
  }
  Call<T> call{{.ranks = ranks,
                .all = {},
                .v_dim = v.size(3),
                .q_layout = layout_of(function, "q", ranks.sharding, queries),
                .k_layout = layout_of(function, "k", ranks.sharding, keys),
                .mask_by_row = is_by_row(function, rows_of_masks, queries)},
               comm,
               options,
               q,
               k,
               v};
  const auto gather_ids = [&](MemberView<const std::int64_t>& ids, const ShardLayout& layout,
                              Tensor<std::int64_t>& all) {
    if (!are_given(ids)) return;
    all = gather<std::int64_t>(comm, ids, layout, 1);
    ids = all;
  };
  gather_ids(call.options.query_positions, call.q_layout, call.query_ids);
  gather_ids(call.options.key_positions, call.k_layout, call.key_ids);
  if (!are_given(call.options.query_positions)) {
    call.rotation = rotation_by_index(call.options.rotation);
    if (call.rotation) call.options.rotation = call.rotation.get();
  }
  run_or_fail_on_all(comm, [&] { check_whole(function, call); });
  return call;
}

#define SEXTANT_INSTANTIATE(T)                                                                \
  template Call<T> check_call(const char*, const Communicator&, View<const T>, View<const T>, \
                              View<const T>, const AttentionOptions<T>&, const Options&,      \
                              const std::function<void()>&, const Agreement&);
SEXTANT_FOR_EACH_FLOATING(SEXTANT_INSTANTIATE)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::ranks
