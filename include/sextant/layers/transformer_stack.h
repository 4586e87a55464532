// Implements encoders and decoders: residual blocks of attention and feed-forward layers, and
// stacks of them.
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

// Whether attention and feed-forward of a layer read the same input: x + self(norm(x)) +
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
  std::int64_t ffn_width = 0;  // width of the feed-forward layers; 0: 4 width
  Activation activation = Activation::relu;
  NormKind norm = NormKind::layer;
  double epsilon = 1e-5;  // epsilon of the norms
  // Norms before each layer (Xiong et al. 2020, 2002.04745); false: after each residual sum, as in
  // Vaswani et al. 2017.
  bool pre_norm = true;
  // Norms of the result of each block before it is added: in addition to those before it, as in
  // Gemma 2, or instead of those after the sum, as in OLMo 2.
  bool output_norm = false;
  ParallelBlocks parallel = ParallelBlocks::none;  // only with pre_norm alone, without cross
  bool final_norm = true;  // norm after the stack; Vaswani et al. 2017 have none
  // With norms before layers: also before the first attention. ModernBERT's reads a normed
  // embedding directly.
  bool first_norm = true;
  bool causal = false;  // causal self attention
  bool cross = false;   // cross attention between the two: a decoder
  bool bias = true;     // the linear maps have biases
  // Biases if `bias` is false: of the maps to q, k and v, of attention's result, of the
  // feed-forward layers.
  bool qkv_bias = false, out_bias = false, ffn_bias = false;
  bool embedding_norm = false;  // norm of x, before the first layer
  // The kind of positions of each layer; empty: kind 0.
  std::vector<std::size_t> kinds{};
};

// One layer: x + self(x), + cross(x, context), + feed_forward(x), with norms and dropout as the
// options say.
template <class T>
struct TransformerLayer {
  // Each has its norm: before it, of its result, or after the sum, and with norms before and of the
  // result also that of the result.
  AttentionLayer<T> self;
  std::optional<Norm<T>> self_norm;  // empty: the first layer, which reads a normed embedding
  std::optional<Norm<T>> self_output_norm;
  std::optional<AttentionLayer<T>> cross;
  std::optional<Norm<T>> cross_norm, cross_output_norm;
  FeedForward<T> feed_forward;
  std::optional<Norm<T>> feed_forward_norm;  // empty: it reads the input of self
  std::optional<Norm<T>> feed_forward_output_norm;

  // `first`: the first layer of a stack.
  TransformerLayer(const StackOptions& options, FirstWeights weights, bool first = false);

  // The data that a residual block saves.
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

// A stack of layers.
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
    std::span<const std::int64_t> segments{};          // sequences of x
    View<const T> context{};                           // [context tokens, width], for a decoder
    std::span<const std::int64_t> context_segments{};  // as many sequences as in x
    const PositionTables<T>* positions = nullptr;      // positions of the self attention
  };
  // x: [tokens, width], contiguous, must live until the backward pass is over.
  Saved forward(View<const T> x, const Input& input, Pass& pass) const;
  // Functions that see the data of a layer before its memory is released; an empty function is not
  // called.
  struct Observer {
    using Attended =
        std::function<void(std::size_t layer, const typename AttentionLayer<T>::Saved&)>;
    Attended self{}, cross{};
    // Called with the residual stream before the first layer, after a norm there, and after each
    // layer, before the final norm.
    std::function<void(View<const T> x)> residual{};
  };
  // Computes the y of forward(), with the same bits, without gradients: the memory of each block is
  // released after it, so any number of layers takes that of one.
  View<const T> infer(View<const T> x, const Input& input, Pass& pass,
                      const Observer& observer = {}) const;
  // Returns the stack's result if it ended where its residual stream is x: the final norm, or x
  // itself if there is none. It is in the pass's memory.
  View<const T> apply_final_norm(View<const T> x, Pass& pass) const;
  // Replaces d [tokens, width], the gradient of the result, by that of x, and adds to dcontext.
  // Calls pass.on_gradients_ready when the gradients of a layer are final. Throws Error for data
  // that forward() did not save.
  void backward(const Saved& saved, View<T> d, View<T> dcontext, TransformerStack& gradient,
                PositionModule<T>* positions_gradient, Pass& pass) const;

  // prefix + "embedding_norm.", "0.", "1.", ..., "final_norm.".
  void append_parameters(Parameters<T>& to, const std::string& prefix);

  // Returns the kind of positions of a layer.
  std::size_t kind_of(std::size_t layer) const {
    return options.kinds.empty() ? 0 : options.kinds[layer];
  }

 private:
  View<const T> run(View<const T> x, const Input& input, Saved* saved, const Observer& observer,
                    Pass& pass) const;
};

}  // namespace sextant
