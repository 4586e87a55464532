// norm(x + attention(x)), sentence by sentence.
#include "sextant/lessons/attention_block.h"

#include <algorithm>

#include "core/options/enum_names.h"
#include "sextant/core/error.h"
#include "sextant/layers/pass.h"

namespace sextant {
namespace {

template <class T>
void check(const AttentionBlock<T>& block, View<const T> x, View<const T> context,
           View<const bool> key_mask) {
  const std::int64_t width = block.norm.gain.size(0);
  if (x.rank() != 3 || x.count() == 0 || x.size(2) != width) {
    throw Error("attention_block.x", "must be [batch, length, " + std::to_string(width) +
                                         "], none of them 0, got " + x.shape().to_string());
  }
  const bool cross = block.kind == AttentionBlockKind::cross;
  if (cross != (context.count() > 0)) {
    throw Error("attention_block.context", std::string("must be given for cross attention only, ") +
                                               (cross ? "got none" : "got one"));
  }
  if (cross && (context.rank() != 3 || context.size(0) != x.size(0) || context.size(2) != width)) {
    throw Error("attention_block.context", "must be [" + std::to_string(x.size(0)) + ", k_len, " +
                                               std::to_string(width) + "], got " +
                                               context.shape().to_string());
  }
  const Shape keys{x.size(0), 1, 1, (cross ? context : x).size(1)};
  if (key_mask.count() > 0 && key_mask.shape() != keys) {
    throw Error("attention_block.key_mask",
                "must be " + keys.to_string() + ", got " + key_mask.shape().to_string());
  }
}

}  // namespace

std::string_view name_of(AttentionBlockKind kind) noexcept {
  return enum_name(kind, {"cross", "global", "causal"});
}

template <class T>
AttentionBlock<T>::AttentionBlock(AttentionBlockKind block_kind, std::int64_t width,
                                  std::int64_t heads, NumpyRandom& random)
    : kind(block_kind), attention(width, heads, random), norm(NormKind::layer, width) {}

template <class T>
typename AttentionBlock<T>::Result AttentionBlock<T>::operator()(View<const T> x,
                                                                 View<const T> context,
                                                                 View<const bool> key_mask) const {
  check(*this, x, context, key_mask);
  const View<const T> keys = kind == AttentionBlockKind::cross ? context : x;
  const std::int64_t batch = x.size(0), length = x.size(1), width = x.size(2);
  Result result{Tensor<T>(x.shape()), Tensor<T>({batch, attention.heads, length, keys.size(1)})};
  Tensor<T> sum(Shape{length, width});
  Workspace memory;
  Pass pass{.memory = memory};
  for (std::int64_t b = 0; b < batch; ++b) {
    AttentionOptions<T> options;
    if (kind == AttentionBlockKind::causal) options.causal = Causal::top_left;
    if (key_mask.count() > 0) options.mask = BoolMask(key_mask.narrow(0, b, 1));
    const HeadsResult<T> mixed = attention(x.select(0, b), keys.select(0, b), options);
    std::ranges::copy(mixed.weights.span(), result.weights.data() + b * mixed.weights.count());
    for (std::int64_t row = 0; row < length; ++row) {
      for (std::int64_t i = 0; i < width; ++i) sum(row, i) = x(b, row, i) + mixed.output(row, i);
    }
    norm.forward(sum, result.output.view().select(0, b), pass);
    memory.reset();
  }
  return result;
}

template struct AttentionBlock<float>;
template struct AttentionBlock<double>;

}  // namespace sextant
