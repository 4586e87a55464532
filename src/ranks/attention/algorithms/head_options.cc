// The options of some heads, with tables, masks and generators cut to them.
#include "ranks/attention/algorithms/head_options.h"

#include "ranks/rows.h"

namespace sextant::ranks {
namespace {

template <class T>
Tensor<T> rows_of_table(const Tensor<T>& table, Heads heads) {
  return copy_of(table.view().narrow(0, heads.begin, heads.size()));
}

RotationTable<float> table_of(const RotationTable<float>& from, Heads heads) {
  if (from.cos.rank() != 3) return from.with(from.cos.clone(), from.sin.clone());
  return from.with(rows_of_table(from.cos, heads), rows_of_table(from.sin, heads));
}

}  // namespace

template <class T>
HeadOptions<T>::HeadOptions(const ranks::Call<T>& call, Heads heads) : options(call.options) {
  const std::int64_t group = call.group();
  queries = {heads.begin * group, heads.end * group};
  options.scale = call.all.numbers.scale;
  const auto take_mask = [&](const auto& mask, auto& whole) {
    using Element = std::remove_cvref_t<decltype(*whole.data())>;
    View<const Element> own = mask;
    const int by_head = mask.rank() - 3;
    if (call.mask_by_row) {
      whole = gather<Element>(call.comm, mask, call.q_layout, mask.rank() - 2);
      own = std::as_const(whole).view();
    }
    if (by_head >= 0 && own.size(by_head) != 1) {
      own = own.narrow(by_head, queries.begin, queries.size());
    }
    options.mask = own;
  };
  if (const auto* mask = std::get_if<BoolMask>(&call.options.mask)) {
    take_mask(BoolMask(*mask), bool_mask_);
  } else if (const auto* floats = std::get_if<FloatMask<T>>(&call.options.mask)) {
    take_mask(FloatMask<T>(*floats), float_mask_);
  }
  if (heads.size() == 0) return;
  const auto first = static_cast<std::size_t>(queries.begin);
  const auto count = static_cast<std::size_t>(queries.size());
  if (!options.sinks.empty()) options.sinks = options.sinks.subspan(first, count);
  if (const DistanceBias* from = call.options.bias) {
    bias_.origin = from->origin;
    if (from->has_table()) {
      bias_.values =
          from->values.size(0) == 1 ? from->values.clone() : rows_of_table(from->values, queries);
    }
    if (!from->slopes.empty()) {
      const auto begin = from->slopes.begin() + queries.begin;
      bias_.slopes.assign(begin, begin + queries.size());
    }
    options.bias = &bias_;
  }
  const RotationTable<float>* rotation = call.options.rotation;
  if (rotation != nullptr &&
      (rotation->cos.rank() == 3 || (rotation->keys && rotation->keys->cos.rank() == 3))) {
    rotation_ = table_of(*rotation, queries);
    if (rotation->keys) {
      rotation_.keys =
          std::make_shared<const RotationTable<float>>(table_of(*rotation->keys, heads));
    }
    options.rotation = &rotation_;
  }
  options.terms.clear();
  for (const ScoreTerm* term : call.options.terms) {
    options.terms.push_back(&terms_.emplace_back(*term, TermPlace{.head = queries.begin}));
  }
}

template struct HeadOptions<float>;
template struct HeadOptions<double>;
template struct HeadOptions<float16>;
template struct HeadOptions<bfloat16>;

}  // namespace sextant::ranks
