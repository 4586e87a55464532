// Files and options of `sextant attention` as arguments of the operator.
#include "attention/attention_operands.h"

#include <algorithm>
#include <string>
#include <utility>

#include "sextant/attention/plan.h"
#include "sextant/core/error.h"
#include "sextant/schemes/distance/alibi.h"

namespace sextant::app {
namespace {

template <class T>
View<const T> four_axes(const AttentionArrays& arrays, const char* name) {
  const Array& array = arrays.at(name);
  if (array.shape.rank() != 4) {
    throw Error(std::string("attention.") + name,
                "must be [batch, heads, length, head_dim], got " + array.shape.to_string());
  }
  if (array.bytes.count() == 0 && array.count() > 0) {  // read in parts elsewhere: a shape alone
    static constexpr std::int64_t kStrides[] = {0, 0, 0, 0};
    static const T element{};
    return View<const T>(&element, array.shape, kStrides);
  }
  return array.as<T>();
}

// Floats of any type, wider or narrower than the call's.
template <class T>
Tensor<T> floats(const Array& array, const char* name, const char* allowed) {
  if (!is_float(array.dtype)) {
    throw Error(std::string("attention.") + name, "must hold " + std::string(allowed) +
                                                      "float32, float64 or float16, got " +
                                                      std::string(dtype_name(array.dtype)));
  }
  return array.to<T>();
}

// A list of whole numbers; `count` < 0: any length but none.
std::vector<std::int64_t> whole_numbers(const AttentionArrays& arrays, const char* name,
                                        std::int64_t count, const char* meaning) {
  const Array& array = arrays.at(name);
  const std::string where = std::string("attention.") + name;
  if (array.dtype != DType::int32 && array.dtype != DType::int64) {
    throw Error(where, "must hold int32 or int64, got " + std::string(dtype_name(array.dtype)));
  }
  const bool fits =
      array.shape.rank() == 1 && (count < 0 ? array.count() > 0 : array.count() == count);
  if (!fits) {
    throw Error(where, "must be " + std::string(meaning) +
                           (count < 0 ? "" : ", [" + std::to_string(count) + "]") + ", got " +
                           array.shape.to_string());
  }
  const Tensor<std::int64_t> values = array.to<std::int64_t>();
  return {values.span().begin(), values.span().end()};
}

}  // namespace

template <Floating T>
AttentionOperands<T>::AttentionOperands(const AttentionCommand& command,
                                        const AttentionArrays& arrays)
    : q(four_axes<T>(arrays, "q")), k(four_axes<T>(arrays, "k")), v(four_axes<T>(arrays, "v")) {
  attention_plan<T>(q, k, v);  // refuses shapes that do not fit: all that follows goes by them
  options.window = command.window;
  options.softcap = command.softcap;
  options.dropout = command.dropout;
  options.dropout_seed = command.dropout_seed;
  options.scale = command.scale;
  options.matmul_precision = command.matmul_precision;
  options.threads = command.threads;
  if (arrays.contains("mask")) take_mask(arrays.at("mask"));
  if (arrays.contains("bias")) take_bias(arrays.at("bias"));
  if (command.alibi) {
    bias_.slopes = alibi_slopes(q.size(1));
    options.bias = &bias_;
  }
  if (arrays.contains("sinks")) {
    const Array& array = arrays.at("sinks");
    if (!(array.shape == Shape{q.size(1)})) {
      throw Error("attention.sinks", "must have one entry per head of q, [" +
                                         std::to_string(q.size(1)) + "], got " +
                                         array.shape.to_string());
    }
    const auto values = floats<double>(array, "sinks", "");
    sinks_.assign(values.span().begin(), values.span().end());
    options.sinks = sinks_;
  }
  if (arrays.contains("segments")) {
    segments_ =
        whole_numbers(arrays, "segments", -1, "where sequences begin and the last one ends");
    options.segments = segments_;
  }
  if (arrays.contains("key-segments")) {
    key_segments_ = whole_numbers(arrays, "key-segments", -1,
                                  "where the keys of sequences begin and the last ones end");
    options.key_segments = key_segments_;
  }
  align(command, arrays);
  if (arrays.contains("query-positions")) take_ids(arrays);
  if (command.rotates()) rotate(command);
  if (command.choice.is_given()) {
    const bool forward =
        std::ranges::any_of(command.choice.positions(), [](const SchemeSpec& each) {
          return find_scheme(each.scheme).kind == SchemeKind::rotated;
        });
    scheme_ = std::make_unique<AttentionScheme>(
        command.choice, positions("attention.scheme", forward), q.size(1), q.size(3));
    scheme_->add_to(options);
  }
  if (arrays.contains("dout")) {
    const Array& array = arrays.at("dout");
    if (!(array.shape == output_shape())) {
      throw Error("attention.dout", "must have the shape of the output, " +
                                        output_shape().to_string() + ", got " +
                                        array.shape.to_string());
    }
    dout = four_axes<T>(arrays, "dout");
    if (command.wants("dmask") && !std::holds_alternative<FloatMask<T>>(options.mask)) {
      throw Error("attention.dmask", "must be given with a mask of floats, got bool");
    }
  }
}

template <Floating T>
void AttentionOperands<T>::take_mask(const Array& array) {
  mask_shape_ = array.shape;
  if (array.dtype == DType::boolean) {
    options.mask = array.as<bool>();
    return;
  }
  mask_ = floats<Wide>(array, "mask", "bool, ");
  options.mask = std::as_const(mask_).view();
}

template <Floating T>
void AttentionOperands<T>::take_bias(const Array& array) {
  bias_.values = floats<float>(array, "bias", "");
  if (array.shape.rank() != 2 || array.shape[1] % 2 == 0) {
    throw Error("attention.bias",
                "must be [heads, 2 L - 1] with index = key - query + L - 1, got " +
                    array.shape.to_string());
  }
  bias_.origin = array.shape[1] / 2;
  options.bias = &bias_;
}

template <Floating T>
void AttentionOperands<T>::align(const AttentionCommand& command, const AttentionArrays& arrays) {
  const std::int64_t batch = q.size(0), k_len = k.size(2);
  options.causal = command.causal;
  if (arrays.contains("query-offsets")) {
    offsets_ = whole_numbers(arrays, "query-offsets", batch, "one number per batch row");
    options.query_offsets = offsets_;
  }
  if (!arrays.contains("key-lengths")) return;
  key_lengths_ = whole_numbers(arrays, "key-lengths", batch, "one length per batch row");
  for (const std::int64_t length : key_lengths_) {
    if (length >= 0 && length <= k_len) continue;
    throw Error("attention.key-lengths", "must be in 0 .. " + std::to_string(k_len) +
                                             ", the length of k, got " + std::to_string(length));
  }
  options.key_lengths = key_lengths_;
}

template <Floating T>
void AttentionOperands<T>::take_ids(const AttentionArrays& arrays) {
  const auto ids = [&](const char* name, std::int64_t length) {
    const Array& array = arrays.at(name);
    const std::string where = std::string("attention.") + name;
    if (array.dtype != DType::int32 && array.dtype != DType::int64) {
      throw Error(where, "must hold int32 or int64, got " + std::string(dtype_name(array.dtype)));
    }
    const bool fits = array.shape.rank() == 2 && array.shape[1] == length &&
                      (array.shape[0] == 1 || array.shape[0] == q.size(0));
    if (!fits) {
      throw Error(where, "must be [batch or 1, " + std::to_string(length) + "], got " +
                             array.shape.to_string());
    }
    return array.to<std::int64_t>();
  };
  query_ids_ = ids("query-positions", q.size(2));
  key_ids_ = ids("key-positions", k.size(2));
  options.query_positions = std::as_const(query_ids_).view();
  options.key_positions = std::as_const(key_ids_).view();
}

template <Floating T>
std::int64_t AttentionOperands<T>::positions(const char* where, bool forward) const {
  const std::int64_t q_len = q.size(2), k_len = k.size(2);
  constexpr std::int64_t kFarthest = std::int64_t{1} << 24;
  if (query_ids_.count() > 0 && key_ids_.count() > 0) {
    // Rows of the ids themselves, and distances between any two.
    const auto [first_q, last_q] =
        std::minmax_element(query_ids_.span().begin(), query_ids_.span().end());
    const auto [first_k, last_k] =
        std::minmax_element(key_ids_.span().begin(), key_ids_.span().end());
    for (const std::int64_t id : {*first_q, *first_k, *last_q, *last_k}) {
      if (id >= (forward ? 0 : -kFarthest) && id < kFarthest) continue;
      throw Error(where, std::string("must be given with ids from ") + (forward ? "0" : "-2^24") +
                             " to 2^24 - 1, got " + std::to_string(id));
    }
    return 1 + std::max({*last_q, *last_k, *last_q - *first_k, *last_k - *first_q});
  }
  std::vector<std::int64_t> first_positions = offsets_;
  // If a pair has fewer keys than queries, no distance is larger than the number of its queries.
  if (options.causal == Causal::bottom_right && key_segments_.empty()) {
    first_positions.assign(static_cast<std::size_t>(q.size(0)), k_len - q_len);
  }
  if (options.causal == Causal::at_lengths) {
    for (const std::int64_t length : key_lengths_) first_positions.push_back(length - q_len);
  }
  std::int64_t count = std::max(q_len, k_len);
  for (std::size_t row = 0; row < first_positions.size(); ++row) {
    const std::int64_t first = first_positions[row];
    const std::int64_t keys = key_lengths_.empty() ? k_len : key_lengths_[row];
    if (q_len == 0 || keys == 0) continue;  // nothing to rotate
    const std::int64_t least = forward ? 0 : k_len - kFarthest;
    if (first < least || first > kFarthest - q_len) {
      throw Error(where, "must be given with queries at positions " + std::to_string(least) +
                             " .. 2^24 - 1, got " + std::to_string(first) +
                             " for the first of batch row " + std::to_string(row));
    }
    count = std::max({count, first + q_len, keys - first});
  }
  return count;
}

template <Floating T>
void AttentionOperands<T>::rotate(const AttentionCommand& command) {
  constexpr const char* kWhere = "attention.rotary-base";
  const std::int64_t head_dim = q.size(3);
  if (head_dim % 2 != 0) {
    throw Error(kWhere, "must be given with an even head_dim, got " + std::to_string(head_dim));
  }
  Rotary rotary_options{.head_dim = head_dim, .threads = command.threads};
  rotary_options.base = command.rotary_base.value_or(rotary_options.base);
  rotary_options.layout = command.rotary_layout.value_or(rotary_options.layout);
  rotation_ = rotary(rotary_options, positions(kWhere, true));
  options.rotation = &rotation_;
}

template class AttentionOperands<float>;
template class AttentionOperands<double>;
template class AttentionOperands<float16>;
template class AttentionOperands<bfloat16>;

}  // namespace sextant::app
