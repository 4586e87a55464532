// Terms of the scores that a function of Python's computes, tile by tile.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "sextant/tables/score_term.h"

namespace nb = nanobind;

namespace sextant::python {

// The function, and the blocks of pairs that it hides, once known. Threads share it.
class TileFunction {
 public:
  enum class Kind { bias, mask };

  // `gradient` may be None. Any number of heads where heads is 1: the function is the same for all
  // and gets head 0.
  TileFunction(nb::object function, Kind kind, std::int64_t length, std::int64_t heads,
               nb::object gradient, std::int64_t parameters);
  ~TileFunction();
  TileFunction(const TileFunction&) = delete;
  TileFunction& operator=(const TileFunction&) = delete;

  Kind kind() const noexcept { return kind_; }
  std::int64_t length() const noexcept { return length_; }
  std::int64_t heads() const noexcept { return heads_; }
  std::int64_t parameters() const noexcept { return parameters_; }
  bool is_mask() const noexcept { return kind_ == Kind::mask; }

  // The known visibility of the pairs of a rectangle: at most 64 queries and 128 keys.
  enum class Seen : std::uint8_t { unknown, none, all, some };
  Seen seen(const ScoreRect& rect) const noexcept;
  void remember(const ScoreRect& rect, Seen seen) noexcept;

  // Calls the function for a rectangle, in natural units, to[i * stride + j]; -infinity hides. It
  // needs the interpreter's lock and throws the function's exception.
  template <class Real>
  void write(const ScoreRect& rect, Real* to, std::int64_t stride) const;
  // Adds the gradients of the parameters.
  void add_gradients(const ScoreGradient<double>& tile) const;

  const nb::object& function() const noexcept { return function_; }
  const nb::object& gradient() const noexcept { return gradient_; }

 private:
  // The index of the block that has the rectangle, -1: none, or that has no place.
  std::int64_t block_of(const ScoreRect& rect) const noexcept;
  bool is_whole(const ScoreRect& rect) const noexcept;

  nb::object function_, gradient_;
  Kind kind_;
  std::int64_t length_, heads_, parameters_;
  std::int64_t q_blocks_, k_blocks_;
  std::unique_ptr<std::atomic<std::uint8_t>[]>
      blocks_;  // [heads][q_blocks][k_blocks]; null: too many
};

// The term of one call: an exception of the function is kept and raised after the call.
class FunctionTerm final : public ScoreTerm {
 public:
  explicit FunctionTerm(std::shared_ptr<TileFunction> of) : of_(std::move(of)) {}

  TermNeeds needs() const override { return {.parameters = of_->parameters()}; }
  void check(const CallExtents& call) const override;
  TermEffect effect(const ScoreRect& rect) const noexcept override;
  void add(const ScoreTile<float>& tile) const noexcept override { add_to(tile); }
  void add(const ScoreTile<double>& tile) const noexcept override { add_to(tile); }
  void backward(const ScoreGradient<double>& tile) const noexcept override;

  const std::shared_ptr<TileFunction>& of() const noexcept { return of_; }
  // With the interpreter's lock: raises the kept exception.
  void raise() const;

 private:
  template <class Real>
  void add_to(const ScoreTile<Real>& tile) const noexcept;
  // f() under the interpreter's lock, unless something was raised before.
  template <class F>
  bool run(const F& f) const noexcept;

  std::shared_ptr<TileFunction> of_;
  mutable std::atomic<bool> failed_{false};
  mutable std::exception_ptr error_;  // under the interpreter's lock
};

}  // namespace sextant::python
