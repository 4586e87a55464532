// Projections around the attention operator, and their gradients.
#include "sextant/layers/attention_layer.h"

#include <algorithm>
#include <vector>

#include "core/options/enum_names.h"
#include "layers/attention/attend.h"
#include "layers/attention/call_parts.h"
#include "layers/attention/column_norms.h"
#include "layers/ops.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant {

using layers::each_part, layers::norm_columns, layers::norm_columns_backward, layers::options_of;
using layers::Part;

std::string_view name_of(QkNorm kind) noexcept { return enum_name(kind, {"none", "head", "all"}); }

namespace {

AttentionLayerOptions checked(AttentionLayerOptions options) {
  const auto positive = [](const char* name, std::int64_t value) {
    if (value < 1) throw Error(name, "must be at least 1, got " + std::to_string(value));
  };
  positive("attention_layer.width", options.width);
  positive("attention_layer.heads", options.heads);
  if (options.kv_heads == 0) options.kv_heads = options.heads;
  positive("attention_layer.kv_heads", options.kv_heads);
  if (options.heads % options.kv_heads != 0) {
    throw Error("attention_layer.kv_heads", "must divide heads = " + std::to_string(options.heads) +
                                                ", got " + std::to_string(options.kv_heads));
  }
  if (options.head_dim == 0) {
    if (options.width % options.heads != 0) {
      throw Error("attention_layer.heads", "must divide width = " + std::to_string(options.width) +
                                               ", got " + std::to_string(options.heads));
    }
    options.head_dim = options.width / options.heads;
  }
  positive("attention_layer.head_dim", options.head_dim);
  for (const auto& [name, value] : {std::pair("attention_layer.scale", options.scale),
                                    std::pair("attention_layer.softcap", options.softcap)}) {
    if (!(value >= 0)) throw Error(name, "must not be negative, got " + shortest(value));
  }
  return options;
}

// Rows [first, first + count) of a map's outputs.
template <class T>
WeightView<T> part(const Linear<T>& map, std::int64_t first, std::int64_t count) {
  return map.weight.weights().narrow(first, count);
}
template <class T>
const T* bias_of(const Linear<T>& map, std::int64_t first) {
  return map.bias.count() > 0 ? map.bias.data() + first : nullptr;
}

// Columns [first, first + heads * head_dim) of [tokens, wide] as [1, heads, tokens, head_dim].
template <class T>
View<T> heads_of(View<T> x, std::int64_t first, std::int64_t heads, std::int64_t head_dim) {
  return x.narrow(1, first, heads * head_dim).split(1, heads).transpose(0, 1).split(0, 1);
}

// An empty view of any shape is a context of no tokens.
template <class T>
View<const T> checked_context(View<const T> context, const AttentionLayerOptions& options) {
  if (!options.cross && context.count() > 0) {
    throw Error("attention_layer.context",
                "must be empty for self attention, got " + context.shape().to_string());
  }
  if (context.count() == 0) return View<const T>(nullptr, {0, options.width});
  if (context.rank() != 2 || context.size(1) != options.width) {
    throw Error("attention_layer.context", "must be [tokens, " + std::to_string(options.width) +
                                               "], got " + context.shape().to_string());
  }
  return context;
}

}  // namespace

template <class T>
AttentionLayer<T>::AttentionLayer(const AttentionLayerOptions& given, FirstWeights weights,
                                  double out_gain)
    : options(checked(given)),
      in(Linear<T>::glorot(options.width, (options.heads + 2 * options.kv_heads) * options.head_dim,
                           weights, options.bias || options.qkv_bias)),
      out(Linear<T>::glorot(options.heads * options.head_dim, options.width, weights,
                            options.bias || options.out_bias, out_gain)) {
  if (options.qk_norm == QkNorm::none) return;
  const bool all = options.qk_norm == QkNorm::all;
  q_norm.emplace(options.norm, (all ? options.heads : 1) * options.head_dim, options.epsilon);
  k_norm.emplace(options.norm, (all ? options.kv_heads : 1) * options.head_dim, options.epsilon);
}

template <class T>
View<T> AttentionLayer<T>::project(View<const T> x, Pass& pass) const {
  const std::int64_t q_width = options.heads * options.head_dim,
                     k_width = options.kv_heads * options.head_dim;
  const View<T> all = pass.memory.take<T>({x.size(0), in.weight.size(0)});
  in.forward(x, all, pass);
  norm_columns<T>(q_norm, all.narrow(1, 0, q_width), pass);
  norm_columns<T>(k_norm, all.narrow(1, q_width, k_width), pass);
  return all;
}

template <class T>
AttentionOptions<T> AttentionLayer<T>::operator_options() const {
  AttentionOptions<T> told;
  if (options.scale > 0) told.scale = options.scale;
  told.softcap = options.softcap;
  return told;
}

template <class T>
typename AttentionLayer<T>::Saved AttentionLayer<T>::forward(View<const T> x, View<const T> given,
                                                             const AttentionCall<T>& call,
                                                             View<T> y, Pass& pass) const {
  const std::int64_t heads = options.heads, kv_heads = options.kv_heads,
                     head_dim = options.head_dim;
  const bool cross = options.cross;
  const View<const T> context = checked_context(given, options);
  const std::int64_t tokens = x.size(0), q_width = heads * head_dim, k_width = kv_heads * head_dim;
  Saved saved{.x = x, .context = context, .call = call};
  const View<T> projected = pass.memory.take<T>({tokens, cross ? q_width : q_width + 2 * k_width});
  ops::linear<T>(x, part(in, 0, projected.size(1)), bias_of(in, 0), projected, pass.threads);
  const View<T> keys =
      cross ? project_keys(context, pass) : projected.narrow(1, q_width, 2 * k_width);
  saved.q_norm = norm_columns<T>(q_norm, projected.narrow(1, 0, q_width), pass);
  saved.k_norm = norm_columns<T>(k_norm, keys.narrow(1, 0, k_width), pass);
  saved.q = heads_of(projected, 0, heads, head_dim);
  saved.k = heads_of(keys, 0, kv_heads, head_dim);
  saved.v = heads_of(keys, k_width, kv_heads, head_dim);
  const View<T> mixed = pass.memory.take<T>({tokens, q_width});
  saved.mixed = heads_of(mixed, 0, heads, head_dim);
  saved.log_sum_exp = pass.memory.take<float>({1, heads, tokens});
  saved.dropout_key = layers::next_dropout_key(pass);
  each_part(*this, call, tokens, keys.size(0), saved.dropout_key, pass, [&](const Part<T>& part) {
    layers::attend<T>(pass, part.of_queries(saved.q), part.of_keys(saved.k), part.of_keys(saved.v),
                      part.of_queries(saved.mixed), part.options,
                      part.of_queries(saved.log_sum_exp));
  });
  out.forward(mixed, y, pass);
  return saved;
}

template <class T>
View<T> AttentionLayer<T>::project_context(View<const T> context, Pass& pass) const {
  const View<T> keys = project_keys(context, pass);
  norm_columns<T>(k_norm, keys.narrow(1, 0, options.kv_heads * options.head_dim), pass);
  return keys;
}

template <class T>
View<T> AttentionLayer<T>::project_keys(View<const T> context, Pass& pass) const {
  const std::int64_t q_width = options.heads * options.head_dim,
                     k_width = options.kv_heads * options.head_dim;
  const View<T> keys = pass.memory.take<T>({context.size(0), 2 * k_width});
  ops::linear<T>(context, part(in, q_width, 2 * k_width), bias_of(in, q_width), keys, pass.threads);
  return keys;
}

template <class T>
void AttentionLayer<T>::attend_context(View<const T> x, View<T> keys, const AttentionCall<T>& call,
                                       View<T> y, Pass& pass) const {
  const std::int64_t heads = options.heads, kv_heads = options.kv_heads,
                     head_dim = options.head_dim;
  const Workspace::Scope scope(pass.memory);
  const View<T> q = pass.memory.take<T>({x.size(0), heads * head_dim});
  const View<T> mixed = pass.memory.take<T>(q.shape());
  ops::linear<T>(x, part(in, 0, heads * head_dim), bias_of(in, 0), q, pass.threads);
  norm_columns<T>(q_norm, q, pass);
  const View<T> q_heads = heads_of(q, 0, heads, head_dim);
  const View<T> k_heads = heads_of(keys, 0, kv_heads, head_dim);
  const View<T> v_heads = heads_of(keys, kv_heads * head_dim, kv_heads, head_dim);
  const View<T> out_heads = heads_of(mixed, 0, heads, head_dim);
  each_part(*this, call, x.size(0), keys.size(0), std::nullopt, pass, [&](const Part<T>& part) {
    attention<T>(part.of_queries(q_heads), part.of_keys(k_heads), part.of_keys(v_heads),
                 part.of_queries(out_heads), part.options);
  });
  out.forward(mixed, y, pass);
}

template <class T>
void AttentionLayer<T>::backward(const Saved& saved, View<const T> dy, View<T> dx, View<T> dcontext,
                                 AttentionLayer& gradient, PositionModule<T>* positions_gradient,
                                 Pass& pass) const {
  const std::int64_t heads = options.heads, kv_heads = options.kv_heads,
                     head_dim = options.head_dim;  // no structured binding: clang 14 and lambdas
  const bool cross = options.cross;
  const std::int64_t tokens = saved.x.size(0), q_width = heads * head_dim,
                     k_width = kv_heads * head_dim;
  const Workspace::Scope scope(pass.memory);
  const View<T> dmixed = pass.memory.take<T>({tokens, q_width});
  const View<const T> mixed(saved.mixed.data(), {tokens, q_width});
  out.backward(mixed, dy, dmixed, gradient.out, pass);
  const View<T> dprojected = pass.memory.take<T>({tokens, cross ? q_width : q_width + 2 * k_width});
  const View<T> dkeys = cross ? pass.memory.take<T>({saved.context.size(0), 2 * k_width})
                              : dprojected.narrow(1, q_width, 2 * k_width);
  const PositionTables<T>* positions = positions_gradient ? saved.call.positions : nullptr;
  const bool collects = pass.context_parallel == nullptr || pass.context_parallel->is_first();
  const auto& key = saved.dropout_key;
  each_part(*this, saved.call, tokens, dkeys.size(0), key, pass, [&](const Part<T>& part) {
    AttentionGradients<T> gradients;
    gradients.q = part.of_queries(heads_of(dprojected, 0, heads, head_dim));
    gradients.k = part.of_keys(heads_of(dkeys, 0, kv_heads, head_dim));
    gradients.v = part.of_keys(heads_of(dkeys, k_width, kv_heads, head_dim));
    if (positions != nullptr)
      positions->request_gradients(gradients, part.length, saved.call.kind, pass);
    layers::attend_backward<T>(pass, part.of_queries(saved.q), part.of_keys(saved.k),
                               part.of_keys(saved.v), part.of_queries(saved.mixed),
                               part.of_queries(heads_of(dmixed, 0, heads, head_dim)), gradients,
                               part.options, part.of_queries(saved.log_sum_exp));
    if (positions == nullptr || !collects) return;
    positions->accumulate(gradients, part.length, saved.call.kind, *positions_gradient);
  });

  norm_columns_backward<T>(q_norm, saved.q_norm, dprojected.narrow(1, 0, q_width), gradient.q_norm,
                           pass);
  norm_columns_backward<T>(k_norm, saved.k_norm, dkeys.narrow(1, 0, k_width), gradient.k_norm,
                           pass);
  const auto weight_gradient = [&](View<const T> x, View<const T> d, std::int64_t first) {
    ops::linear_weight_gradient<T>(
        x, d, gradient.in.weight.view().narrow(0, first, d.size(1)),
        gradient.in.bias.count() > 0 ? gradient.in.bias.data() + first : nullptr, pass.threads);
  };
  weight_gradient(saved.x, dprojected, 0);
  ops::linear_input_gradient<T>(View<const T>(dprojected), part(in, 0, dprojected.size(1)).wide(),
                                dx, false, pass.threads);
  if (cross) {
    weight_gradient(saved.context, dkeys, q_width);
    ops::linear_input_gradient<T>(View<const T>(dkeys), part(in, q_width, 2 * k_width).wide(),
                                  dcontext, true, pass.threads);
  }
}

template <class T>
Tensor<T> AttentionLayer<T>::weights(const Saved& saved, std::int64_t sequence,
                                     const WeightsOptions& chosen) const {
  const bool cross = options.cross;
  const auto cut = [sequence](View<T> x, std::span<const std::int64_t> segments) {
    const auto at = static_cast<std::size_t>(sequence);
    return x.narrow(2, segments[at], segments[at + 1] - segments[at]);
  };
  const auto key_segments =
      cross && !saved.call.key_segments.empty() ? saved.call.key_segments : saved.call.segments;
  const View<const T> q = cut(saved.q, saved.call.segments), k = cut(saved.k, key_segments);
  AttentionOptions<T> attention_options = options_of(*this, saved.call);
  attention_options.segments = attention_options.key_segments = {};
  if (saved.call.positions != nullptr) {
    saved.call.positions->set(attention_options, std::max(q.size(2), k.size(2)), saved.call.kind);
  }
  const Tensor<T> all = attention_weights<T>(q, k, attention_options, chosen);
  return copy_of(all.view().select(0, 0));
}

template <class T>
void AttentionLayer<T>::append_parameters(Parameters<T>& to, const std::string& prefix) {
  in.append_parameters(to, prefix + "in.");
  out.append_parameters(to, prefix + "out.");
  if (q_norm) q_norm->append_parameters(to, prefix + "q_norm.");
  if (k_norm) k_norm->append_parameters(to, prefix + "k_norm.");
}

template struct AttentionLayer<float>;
template struct AttentionLayer<double>;

}  // namespace sextant
