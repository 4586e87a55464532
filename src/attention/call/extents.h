// The sizes and positions of a call, as the terms of its scores check them.
#pragma once

#include <vector>

#include "attention/call/arguments.h"

namespace sextant::attention_detail {

class Extents {
 public:
  // `v_dim` is -1 for calls without values.
  Extents(const AttentionCall& call, std::int64_t v_dim);
  Extents(const Extents&) = delete;
  Extents& operator=(const Extents&) = delete;

  const CallExtents& call() const noexcept { return call_; }

 private:
  std::vector<SequenceExtents> sequences_;
  CallExtents call_;
};

}  // namespace sextant::attention_detail
