// Encoders and decoders: residual blocks of attention and feed-forward layers, and stacks of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/layers/attention_layer.h"
#include "sextant/layers/feed_forward.h"
#include "sextant/layers/norm.h"

namespace sextant {

// Whether attention and feed-forward of a layer read the same: x + self(norm(x)) +
// feed_forward(norm(x)) (Wang and Komatsuzaki 2021).
enum class ParallelBlocks {
  none,
  one_norm,   // one norm for both: GPT-J, Phi, Cohere
  two_norms,  // each has its own: GPT-NeoX
};
std::string_view name_of(ParallelBlocks blocks) noexcept;

struct StackOptions {
  std::int64_t layers = 6;
  AttentionLayerOptions attention{};
  std::int64_t ffn_width = 0;  // of the feed-forward layers; 0: 4 width
  Activation activation = Activation::relu;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;  // of the norms
  // Norms before each layer (Xiong et al. 2020, 2002.04745); false: after each residual sum, as in
  // Vaswani et al. 2017.
  bool pre_norm = true;
  // Norms of what each layer gives, before it is added: beside those before it, as in Gemma 2, or
  // in place of those after the sum, as in OLMo 2.
  bool output_norm = false;
  ParallelBlocks parallel = ParallelBlocks::none;  // only with norms before alone, without cross
  bool final_norm = true;                          // after the stack; Vaswani et al. 2017 have none
  // Where norms are before layers: before the first attention too. ModernBERT's reads a normed
  // embedding as it is.
  bool first_norm = true;
  bool causal = false;  // causal self attention
  bool cross = false;   // with cross attention between: a decoder
  bool bias = true;     // of the linear maps
  // Where they have none: of the maps to q, k and v, of attention's result, of those of the
  // feed-forward layers.
  bool qkv_bias = false, out_bias = false, ffn_bias = false;
  bool embedding_norm = false;  // of x, before the first layer
  // Which tables of the positions each layer has; empty: kind 0.
  std::vector<std::size_t> kinds{};
};

// One layer: x + self(x), + cross(x, context), + feed_forward(x), with norms and dropout as the
// options say.
template <class T>
struct TransformerLayer {
  // Each with its norm, before it, of what it gives, or after the sum, and where there are norms
  // before and of the result, that of the result.
  AttentionLayer<T> self;
  std::optional<Norm<T>> self_norm;  // empty: the first layer, which reads a normed embedding
  std::optional<Norm<T>> self_output_norm;
  std::optional<AttentionLayer<T>> cross;
  std::optional<Norm<T>> cross_norm, cross_output_norm;
  FeedForward<T> feed_forward;
  std::optional<Norm<T>> feed_forward_norm;  // empty: it reads what self reads
  std::optional<Norm<T>> feed_forward_output_norm;

  // `first`: of a stack.
  TransformerLayer(const StackOptions& options, FirstWeights weights, bool first = false);

  // What a residual block keeps.
  template <class Inner>
  struct Block {
    typename Norm<T>::Saved norm, output_norm;  // before or after; of the result
    typename Inner::Saved inner;
    RandomKey key;
  };
  struct Saved {
    Block<AttentionLayer<T>> self;
    std::optional<Block<AttentionLayer<T>>> cross;
    Block<FeedForward<T>> feed_forward;
  };

  // prefix + "self.", "self_norm.", "self_output_norm.", and the same with "cross" and
  // "feed_forward".
  void append_parameters(Parameters<T>& to, const std::string& prefix);
};

// Layers one after the other.
template <class T>
struct TransformerStack {
  StackOptions options;
  std::optional<Norm<T>> embedding_norm;
  std::vector<TransformerLayer<T>> layers;
  std::optional<Norm<T>> final_norm;

  // Throws Error for options that do not fit. The last map of each block starts 1 / sqrt(blocks)
  // smaller, so that the sum over the blocks does not grow with their number (Radford et al. 2019).
  TransformerStack(StackOptions options, FirstWeights weights);

  struct Saved {
    std::optional<typename Norm<T>::Saved> embedding_norm;
    std::vector<typename TransformerLayer<T>::Saved> layers;
    std::optional<typename Norm<T>::Saved> final_norm;
    View<const T> y;  // the result, [tokens, width]
  };
  struct Input {
    std::span<const std::int64_t> segments{};          // of x
    View<const T> context{};                           // [context tokens, width], of a decoder
    std::span<const std::int64_t> context_segments{};  // as many sequences as x has
    const PositionTables<T>* positions = nullptr;      // of the self attention
  };
  // x: [tokens, width], contiguous, and alive until the backward pass is over.
  Saved forward(View<const T> x, const Input& input, Pass& pass) const;
  // Looks at what there is of a layer until its memory is released; an empty function sees nothing.
  struct Observer {
    using Attended =
        std::function<void(std::size_t layer, const typename AttentionLayer<T>::Saved&)>;
    Attended self{}, cross{};
    // The residual stream before the first layer, after a norm there, and after each layer, before
    // the final norm.
    std::function<void(View<const T> x)> residual{};
  };
  // Computes the y of forward(), with the same bits, where no gradients are wanted: the memory of
  // each block is released after it, so any number of layers takes that of one.
  View<const T> infer(View<const T> x, const Input& input, Pass& pass,
                      const Observer& observer = {}) const;
  // Gives what the stack would if it ended where its residual stream is x: the final norm, or x
  // itself where there is none. In the pass's memory.
  View<const T> apply_final_norm(View<const T> x, Pass& pass) const;
  // d: [tokens, width], the gradient of the result, becomes that of x; dcontext is added to. Says
  // to pass.on_gradients_ready when the gradients of a layer are. Throws Error for what forward()
  // did not save.
  void backward(const Saved& saved, View<T> d, View<T> dcontext, TransformerStack& gradient,
                PositionModule<T>* positions_gradient, Pass& pass) const;

  // prefix + "embedding_norm.", "0.", "1.", ..., "final_norm.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);

  // Which tables of the positions a layer has.
  std::size_t kind_of(std::size_t layer) const {
    return options.kinds.empty() ? 0 : options.kinds[layer];
  }

 private:
  View<const T> run(View<const T> x, const Input& input, Saved* saved, const Observer& observer,
                    Pass& pass) const;
};

}  // namespace sextant
