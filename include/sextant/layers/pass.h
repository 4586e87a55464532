// Provides what a forward and backward pass needs besides the layers: memory, threads, random
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// An arena: memory is taken in pieces and released all at once or down to a mark. A pass takes the
// same pieces in every step, so the second step allocates nothing.
class Workspace {
 public:
  Workspace() = default;
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = default;

  // Returns elements of any value, or zeros; 64-byte aligned; valid until reset() or release() of
  // an earlier mark. Throws Error if there is not enough memory.
  template <class T>
  View<T> take(const Shape& shape);
  template <class T>
  View<T> zeros(const Shape& shape);

  struct Mark {
    std::size_t block = 0, used = 0;
  };
  Mark mark() const noexcept { return at_; }
  void release(Mark mark) noexcept { at_ = mark; }
  void reset() { release({}); }
  // Releases the memory taken in a block at its end.
  class Scope {
   public:
    explicit Scope(Workspace& memory) : memory_(memory), mark_(memory.mark()) {}
    ~Scope() { memory_.release(mark_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Workspace& memory_;
    Mark mark_;
  };
  std::size_t bytes() const noexcept;  // returns the bytes that it holds

 private:
  std::byte* take_bytes(std::size_t count);

  std::vector<Tensor<std::byte>> blocks_;
  Mark at_;
};

class ContextParallel;

// Rows [first, first + count) of an array.
struct RowRange {
  std::int64_t first, count;
};

// The key of random numbers for dropout, which are a function of (seed, stream, token, column): the
// backward pass gets the same ones, for any threads and batches of a step.
struct RandomKey {
  std::uint64_t seed = 0;      // seed of this step
  std::uint32_t stream = 0;    // number of the use in this step; layers count in their order
  std::int64_t first_row = 0;  // index of the batch's first token in the step
  // The local rows of a batch that is divided, one range after the other. Empty: all.
  std::span<const RowRange> rows{};
};

// Calls use(first, count, place): the local rows [first, first + count) are tokens from `place` of
// the step on.
template <class Use>
void each_range(const RandomKey& key, std::int64_t rows, const Use& use) {
  if (key.rows.empty()) return use(std::int64_t{0}, rows, key.first_row);
  std::int64_t first = 0;
  for (const RowRange& range : key.rows) {
    use(first, range.count, key.first_row + range.first);
    first += range.count;
  }
}

// One pass over a batch. The batch is packed: row i of every activation [tokens, width] is one
// token, and the sequences are [segments[s], segments[s + 1]).
struct Pass {
  Workspace& memory;
  int threads = 0;     // 0: default_threads(); results do not depend on it
  double dropout = 0;  // 0 <= dropout < 1; 0 when not training
  RandomKey random{};
  // The share of tokens whose vector is zero, though positions stay (Gal and Ghahramani 2016,
  // 1512.05287, section 4.2); as dropout.
  double word_dropout = 0;
  // The share of the attention weights that are zero, after the softmax; the others are divided by
  // 1 - attention_dropout (attn_pdrop of GPT-2). As dropout; 0 with context_parallel. Decoders with
  // caches and the pointer of translators drop no weights.
  double attention_dropout = 0;
  // Set if each sequence is divided among processes, of which this is one; only for
  // LanguageModel::loss() of float32. nullptr: all tokens are local.
  ContextParallel* context_parallel = nullptr;
  // Called in a backward pass when gradients are final: with the data of one, for this and those
  // after it in the order of the model's parameters().
  std::function<void(const void*)> on_gradients_ready{};

  RandomKey next_random() noexcept {
    ++random.stream;
    return random;
  }
};

}  // namespace sextant
