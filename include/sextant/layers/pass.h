// What a forward and backward pass needs besides the layers: memory, threads, random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "sextant/core/tensor.h"

namespace sextant {

// An arena: memory is taken in pieces and released all at once or down to a mark. A pass takes the
// same pieces every step, so the second step allocates nothing.
class Workspace {
 public:
  Workspace() = default;
  Workspace(Workspace&&) noexcept = default;
  Workspace& operator=(Workspace&&) noexcept = default;

  // Elements of any value, or zeros; 64-byte aligned; valid until reset() or release() of an
  // earlier mark. Throws Error when there is not enough memory.
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
  // Releases at the end of a block what was taken in it.
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
  std::size_t bytes() const noexcept;  // that it holds

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

// Numbers for dropout: a function of (seed, stream, token, column), so that the backward pass gets
// the same ones, whatever the threads and the batches of a step.
struct RandomKey {
  std::uint64_t seed = 0;      // of this step
  std::uint32_t stream = 0;    // number of the use in this step; layers count in their order
  std::int64_t first_row = 0;  // the place of the batch's first token among those of the step
  // Of a batch that is divided: which of its rows are here, one range after the other. Empty: all.
  std::span<const RowRange> rows{};
};

// use(first, count, place): rows [first, first + count) here are tokens from `place` of the step
// on.
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
  // The part of the tokens whose vector is zero instead, positions stay (Gal and Ghahramani 2016,
  // 1512.05287, section 4.2); as dropout.
  double word_dropout = 0;
  // Where each sequence is divided among processes, of which this is one: for LanguageModel::loss()
  // alone, of float32. nullptr: all tokens are here.
  ContextParallel* context_parallel = nullptr;
  // Called in a backward pass when gradients will get nothing more from it: with the data of one,
  // for this and those after it in the order of the model's parameters().
  std::function<void(const void*)> on_gradients_ready{};

  RandomKey next_random() noexcept {
    ++random.stream;
    return random;
  }
};

}  // namespace sextant
