// Checks of a call on ranks: first that all ranks ask for the same, then by the operator's own
// checks on arrays of the whole shapes that have no elements of their own.
#include "ranks/attention/call.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/enum_names.h"
#include "core/hash.h"
#include "sextant/core/numbers.h"
#include "sextant/ranks/agreement.h"

namespace sextant::ranks {
namespace {

std::string in(const char* function, const char* argument) {
  return std::string(function) + "." + argument;
}

// A whole array's shape over one element.
template <class T>
View<const T> shape_only(const Shape& shape) {
  static constexpr std::array<std::byte, 8> kElement{};
  constexpr std::array<std::int64_t, kMaxRank> kStrides{};
  return View<const T>(reinterpret_cast<const T*>(kElement.data()), shape,
                       std::span(kStrides.data(), static_cast<std::size_t>(shape.rank())));
}

template <class T>
std::span<const std::byte> bytes(std::span<const T> values) {
  return std::as_bytes(values);
}

// Of a large table: its shape and every n-th element.
template <class T>
std::string sample_of(const Tensor<T>& table) {
  constexpr std::int64_t kSample = 1024;
  std::string text = table.shape().to_string();
  const std::int64_t step = std::max<std::int64_t>(1, table.count() / kSample);
  std::uint64_t hash = fnv1a(text);
  for (std::int64_t i = 0; i < table.count(); i += step) {
    hash = fnv1a({reinterpret_cast<const char*>(table.data() + i), sizeof(T)}, hash);
  }
  return text + " " + std::to_string(hash);
}

template <class T>
std::string mask_of(const AttentionOptions<T>& options) {
  const auto shape = [](const auto& mask) {
    std::string text;
    for (int axis = 0; axis < mask.rank(); ++axis) {
      text += axis + 2 == mask.rank() && mask.size(axis) != 1
                  ? "queries "
                  : std::to_string(mask.size(axis)) + " ";
    }
    return text;
  };
  if (const auto* mask = std::get_if<BoolMask>(&options.mask)) return "bool " + shape(*mask);
  if (const auto* mask = std::get_if<FloatMask<T>>(&options.mask)) return "float " + shape(*mask);
  return "none";
}

std::string text_of_ids(View<const std::int64_t> ids) {
  return ids.rank() == 2 ? "[" + std::to_string(ids.size(0)) + ", positions]"
                         : ids.shape().to_string();
}

template <class T>
void agree(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
           View<const T> v, const AttentionOptions<T>& o, const Options& ranks) {
  Agreement all;
  const auto add = [&](const char* argument, std::string value) {
    all.add(in(function, argument), std::move(value));
  };
  const auto shape = [](View<const T> x) {
    std::string text;
    for (int axis = 0; axis < x.rank(); ++axis) {
      text += (axis == 0 ? "[" : ", ") + (axis == 2 ? "own" : std::to_string(x.size(axis)));
    }
    return text + "]";
  };
  add("dtype", std::string(dtype_name(dtype_of<T>)));
  add("q", shape(q));
  add("k", shape(k));
  add("v", shape(v));
  add("form", std::string(name_of(ranks.form)));
  add("division", std::string(name_of(ranks.division)));
  add("transport", std::string(name_of(ranks.transport)));
  add("reproducible", ranks.reproducible ? "yes" : "no");
  add("machine", shortest(ranks.machine.multiply_adds) + " " + shortest(ranks.machine.bytes) + " " +
                     shortest(ranks.machine.latency));
  add("causal", o.causal ? std::string(name_of(*o.causal)) : "unset");
  add("window", std::to_string(o.window.left) + "," + std::to_string(o.window.right));
  add("softcap", shortest(o.softcap));
  add("scale", o.scale ? shortest(*o.scale) : "unset");
  add("mask", mask_of(o));
  add("query_positions", text_of_ids(o.query_positions));
  add("key_positions", text_of_ids(o.key_positions));
  all.add(in(function, "query_offsets"), bytes(o.query_offsets));
  all.add(in(function, "key_lengths"), bytes(o.key_lengths));
  all.add(in(function, "segments"), bytes(o.segments));
  all.add(in(function, "key_segments"), bytes(o.key_segments));
  all.add(in(function, "sinks"), bytes(o.sinks));
  add("bias", o.bias == nullptr ? "none"
                                : sample_of(o.bias->values) + " " + std::to_string(o.bias->origin));
  if (o.bias != nullptr) {
    all.add(in(function, "bias.slopes"), bytes(std::span<const double>(o.bias->slopes)));
  }
  add("indexed", o.indexed == nullptr ? "none" : std::to_string(o.indexed->gradient_size()));
  add("content", o.content == nullptr ? "none" : std::to_string(o.content->gradient_size()));
  add("rotation", o.rotation == nullptr
                      ? "none"
                      : sample_of(o.rotation->cos) + " " + sample_of(o.rotation->for_keys().sin));
  all.check(comm);
}

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

// Sum over i in [begin, end) of i + shift, limited to low .. high.
double sum_of_limited(std::int64_t begin, std::int64_t end, std::int64_t shift, std::int64_t low,
                      std::int64_t high) {
  const std::int64_t a = std::clamp(low - shift, begin, end), b = std::clamp(high - shift, a, end);
  const auto d = [](std::int64_t x) { return static_cast<double>(x); };
  return d(a - begin) * d(low) + (d(a + shift) + d(b - 1 + shift)) * d(b - a) / 2 +
         d(end - b) * d(high);
}

template <class T>
std::vector<Piece> pieces_of(const Layout& layout, int rank,
                             std::span<const std::int64_t> borders) {
  std::vector<Piece> pieces;
  std::int64_t row = 0;
  for (const Run& run : layout.runs(rank)) {
    const std::int64_t end = run.begin + run.count;
    if (borders.empty()) {
      if (run.count > 0) pieces.push_back({0, run.begin, end, row});
    } else {
      auto next = std::upper_bound(borders.begin(), borders.end(), run.begin);
      for (std::int64_t at = run.begin; at < end; ++next) {
        const std::int64_t stop = std::min(end, *next);
        if (stop > at)
          pieces.push_back({next - borders.begin() - 1, at, stop, row + at - run.begin});
        at = stop;
      }
    }
    row += run.count;
  }
  return pieces;
}

}  // namespace

template <class T>
std::vector<Piece> Call<T>::query_pieces(int rank) const {
  return pieces_of<T>(q_layout, rank, all.segments);
}

template <class T>
std::vector<Piece> Call<T>::key_pieces(int rank) const {
  return pieces_of<T>(k_layout, rank, all.key_segments);
}

template <class T>
Piece Call<T>::seen(const Piece& queries) const {
  Piece keys{queries.segment, std::numeric_limits<std::int64_t>::max(), 0};
  for (std::int64_t b = 0; b < all.batch && queries.size() > 0; ++b) {
    const Sequence at = sequence(b, queries.segment);
    const std::int64_t first = all.visible(at, queries.begin - at.q_begin).first;
    const std::int64_t last = all.visible(at, queries.end - 1 - at.q_begin).last;
    if (first >= last) continue;
    keys.begin = std::min(keys.begin, at.k_begin + first);
    keys.end = std::max(keys.end, at.k_begin + last);
  }
  if (keys.begin >= keys.end) keys.begin = keys.end = 0;
  return keys;
}

template <class T>
double Call<T>::pairs(const Piece& queries, const Piece& keys) const {
  double sum = 0;
  for (std::int64_t b = 0; b < all.batch; ++b) {
    const Sequence at = sequence(b, queries.segment);
    const std::int64_t low = keys.begin - at.k_begin;
    const std::int64_t high = std::max(low, std::min(keys.end - at.k_begin, at.k_len));
    const std::int64_t begin = queries.begin - at.q_begin, end = queries.end - at.q_begin;
    const std::int64_t right = all.causal ? std::min<std::int64_t>(all.right, 0) : all.right;
    sum += sum_of_limited(begin, end, at.offset + right + 1, low, high) -
           sum_of_limited(begin, end, at.offset - all.left, low, high);
  }
  return sum;
}

template <class T>
Call<T> check_call(const char* function, const Communicator& comm, View<const T> q, View<const T> k,
                   View<const T> v, const AttentionOptions<T>& options, const Options& ranks) {
  together(comm, [&] {
    check_named(in(function, "form"), ranks.form);
    check_named(in(function, "division"), ranks.division);
    check_named(in(function, "transport"), ranks.transport);
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
  Call<T> call{.comm = comm,
               .ranks = ranks,
               .options = options,
               .all = {},
               .q = q,
               .k = k,
               .v = v,
               .v_dim = v.size(3),
               .q_layout = layout_of(function, "q", comm, q, ranks.division),
               .k_layout = layout_of(function, "k", comm, k, ranks.division),
               .query_ids = {},
               .key_ids = {}};
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
  template struct Call<T>;                                                                    \
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
