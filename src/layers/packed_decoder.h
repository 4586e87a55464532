// Decodes sequences of different lengths together: each pass of the stack reads tokens of all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "layers/cached_attention.h"
#include "sextant/layers/transformer_stack.h"

namespace sextant::layers {

// The keys and values of the tokens of one sequence.
struct DecodedSequence {
  std::int64_t length = 0;           // tokens read
  std::vector<AnyKvCache> caches{};  // of each layer

  // Returns the same sequence, which shares the pages of the tokens so far.
  DecodedSequence fork() const;
  void clear() noexcept;  // drops all tokens
};

// The products of a layer are of the tokens of all sequences at once, packed; each sequence attends
// to its own cache. The results of a sequence have the same bits whichever sequences are read with
// it, and are those of StackDecoder. The stack and the positions must outlive it.
class PackedDecoder {
 public:
  // longest: the largest length of a sequence. Throws Error if the positions end before, and for a
  // cache type without a name.
  PackedDecoder(const TransformerStack<float>& stack, const PositionModule<float>& positions,
                std::int64_t longest, CacheType cache_type);

  // Makes an empty sequence.
  DecodedSequence sequence() const;

  // Call it before a sequence is read up to `length`. Returns how many of its first tokens need not
  // be read: all that it has, or none if the tables of this length are not those that they were
  // read with; then it drops them.
  std::int64_t prepare(DecodedSequence& sequence, std::int64_t length) const;

  struct Part {
    DecodedSequence* sequence;  // each sequence at most once in a pass
    std::int64_t count;         // the number of tokens that it reads, >= 1
  };
  // Reads the next tokens of each sequence: x [sum of the counts, width], embedded, without
  // positions. Returns the stack's results of the last token of each, [parts, width], in the pass's
  // memory.
  View<const float> read(std::span<const Part> parts, View<const float> x, Pass& pass);

 private:
  std::vector<const PositionTables<float>*> tables_for(std::span<const Part> parts);

  const TransformerStack<float>& stack_;
  const PositionModule<float>& positions_;
  std::int64_t longest_;
  CacheType cache_type_;
  std::vector<PositionTables<float>> tables_;  // of different keys
};

}  // namespace sextant::layers
