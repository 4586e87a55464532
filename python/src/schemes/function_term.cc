// Terms of the scores that a function of Python's computes, tile by tile.
#include "schemes/function_term.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "arrays.h"
#include "bindings.h"
#include "copies.h"
#include "interpreter_lock.h"
#include "schemes/tables.h"

namespace sextant::python {
namespace {

constexpr std::int64_t kBlockQueries = 64, kBlockKeys = 128;
constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 24;  // bytes

// [rows, 1] or [1, rows].
template <class Position>
nb::object ids_array(std::int64_t count, bool as_rows, const Position& position) {
  Tensor<std::int64_t> ids(as_rows ? Shape{count, 1} : Shape{1, count});
  for (std::int64_t n = 0; n < count; ++n) ids.data()[n] = position(n);
  return to_python(std::move(ids));
}

struct Places {
  nb::object head, queries, keys;
};
Places places_of(const ScoreRect& rect, std::int64_t heads) {
  const std::int64_t head = heads == 1 ? 0 : rect.head;
  return {ids_array(1, true, [head](std::int64_t) { return head; }),
          ids_array(rect.queries, true, [&](std::int64_t i) { return rect.query_position(i); }),
          ids_array(rect.keys, false, [&](std::int64_t j) { return rect.key_position(j); })};
}

// A result of the function, broadcast to [queries, keys]: to(i, j, number).
template <class T, class To>
void each_pair(View<const T> from, const ScoreRect& rect, const To& to) {
  while (from.rank() < 2) from = from.unsqueeze(0);
  const std::int64_t row = from.size(0) == 1 ? 0 : from.stride(0);
  const std::int64_t column = from.size(1) == 1 ? 0 : from.stride(1);
  for (std::int64_t i = 0; i < rect.queries; ++i) {
    const T* at = from.data() + i * row;
    for (std::int64_t j = 0; j < rect.keys; ++j) to(i, j, at[j * column]);
  }
}

void check_shape(const InputArray& result, const ScoreRect& rect, const char* call) {
  const Shape& shape = result.shape();
  const int rank = shape.rank();
  const auto fits = [&](int axis, std::int64_t size) {
    return axis < 0 || shape[axis] == 1 || shape[axis] == size;
  };
  if (rank <= 2 && fits(rank - 1, rect.keys) && fits(rank - 2, rect.queries)) return;
  throw Error(std::string(call) + ".function",
              "must give an array that broadcasts to [queries, keys], " +
                  Shape{rect.queries, rect.keys}.to_string() + ", got the shape " +
                  shape.to_string());
}

}  // namespace

TileFunction::TileFunction(nb::object function, Kind kind, std::int64_t length, std::int64_t heads,
                           nb::object gradient, std::int64_t parameters)
    : function_(std::move(function)),
      gradient_(std::move(gradient)),
      kind_(kind),
      length_(length),
      heads_(heads),
      parameters_(parameters),
      q_blocks_((length + kBlockQueries - 1) / kBlockQueries),
      k_blocks_((length + kBlockKeys - 1) / kBlockKeys) {
  if (heads_ <= kMaxBlocks &&
      q_blocks_ * k_blocks_ <= kMaxBlocks / std::max<std::int64_t>(heads_, 1)) {
    const auto count = static_cast<std::size_t>(heads_ * q_blocks_ * k_blocks_);
    blocks_ = std::make_unique<std::atomic<std::uint8_t>[]>(count);
  }
}

TileFunction::~TileFunction() {
  const Locked held;  // the last call that has it may end on any thread
  function_.reset();
  gradient_.reset();
}

std::int64_t TileFunction::block_of(const ScoreRect& rect) const noexcept {
  if (!blocks_ || rect.query_positions != nullptr) return -1;
  const std::int64_t query = rect.diagonal_key(0), key = rect.first_key;
  if (query < 0 || query + rect.queries > length_ || key + rect.keys > length_) return -1;
  if (query / kBlockQueries != (query + rect.queries - 1) / kBlockQueries) return -1;
  if (key / kBlockKeys != (key + rect.keys - 1) / kBlockKeys) return -1;
  const std::int64_t head = heads_ == 1 ? 0 : rect.head;
  return (head * q_blocks_ + query / kBlockQueries) * k_blocks_ + key / kBlockKeys;
}

bool TileFunction::is_whole(const ScoreRect& rect) const noexcept {
  const std::int64_t query = rect.diagonal_key(0), key = rect.first_key;
  return query % kBlockQueries == 0 && key % kBlockKeys == 0 &&
         rect.queries == std::min(kBlockQueries, length_ - query) &&
         rect.keys == std::min(kBlockKeys, length_ - key);
}

TileFunction::Seen TileFunction::seen(const ScoreRect& rect) const noexcept {
  const std::int64_t block = block_of(rect);
  return block < 0 ? Seen::unknown
                   : static_cast<Seen>(
                         blocks_[static_cast<std::size_t>(block)].load(std::memory_order_relaxed));
}

void TileFunction::remember(const ScoreRect& rect, Seen seen) noexcept {
  const std::int64_t block = block_of(rect);
  if (block < 0 || !is_whole(rect)) return;
  blocks_[static_cast<std::size_t>(block)].store(static_cast<std::uint8_t>(seen),
                                                 std::memory_order_relaxed);
}

template <class Real>
void TileFunction::write(const ScoreRect& rect, Real* to, std::int64_t stride) const {
  constexpr Real kHidden = -std::numeric_limits<Real>::infinity();
  const char* call = is_mask() ? "mask" : "bias";
  const Places at = places_of(rect, heads_);
  const nb::object given = function_(at.head, at.queries, at.keys);
  if (const auto flag = bool_of(given); flag && is_mask()) {
    for (std::int64_t i = 0; i < rect.queries; ++i) {
      std::fill_n(to + i * stride, rect.keys, *flag ? Real{0} : kHidden);
    }
    return;
  }
  if (!is_mask() && (PyFloat_Check(given.ptr()) != 0 || PyLong_Check(given.ptr()) != 0)) {
    const Real number = static_cast<Real>(Argument{given, call, "function"}.number());
    for (std::int64_t i = 0; i < rect.queries; ++i) std::fill_n(to + i * stride, rect.keys, number);
    return;
  }
  const InputArray result({given, call, "function"});
  check_shape(result, rect, call);
  if (is_mask()) {
    if (result.dtype() != DType::boolean) {
      throw WrongType("[mask.function] must give an array of bool, got " +
                      std::string(dtype_name(result.dtype())));
    }
    each_pair<bool>(result.view<bool>(), rect, [&](std::int64_t i, std::int64_t j, bool seen) {
      to[i * stride + j] = seen ? Real{0} : kHidden;
    });
    return;
  }
  const auto put = [&](std::int64_t i, std::int64_t j, auto number) {
    to[i * stride + j] = static_cast<Real>(number);
  };
  if (result.dtype() == DType::float32) return each_pair<float>(result.view<float>(), rect, put);
  if (result.dtype() == DType::float64) return each_pair<double>(result.view<double>(), rect, put);
  if (result.dtype() == DType::boolean) {
    throw WrongType(
        "[bias.function] must give an array of numbers, got bool: sextant.mask() is for those");
  }
  const Tensor<double> wide = result.copy().to<double>();
  each_pair<double>(wide, rect, put);
}

void TileFunction::add_gradients(const ScoreGradient<double>& tile) const {
  Tensor<double> dscores({tile.queries, tile.keys});
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    std::copy_n(tile.dscores + i * tile.stride, tile.keys, &dscores(i, 0));
  }
  const Places at = places_of(tile, heads_);
  const nb::object given = gradient_(to_python(std::move(dscores)), at.head, at.queries, at.keys);
  const InputArray result({given, "bias", "gradient"});
  if (!(result.shape() == Shape{parameters_})) {
    throw Error("bias.gradient", "must give an array of the parameters' gradients, [" +
                                     std::to_string(parameters_) + "], got the shape " +
                                     result.shape().to_string());
  }
  const Tensor<double> sums = result.copy().to<double>();
  for (std::int64_t n = 0; n < parameters_; ++n) tile.parameters[n] += sums.data()[n];
}

template <class F>
bool FunctionTerm::run(const F& f) const noexcept {
  if (failed_.load(std::memory_order_relaxed)) return false;
  const Locked held;
  if (failed_.load(std::memory_order_relaxed)) return false;
  try {
    f();
    return true;
  } catch (...) {
    error_ = std::current_exception();
    failed_.store(true, std::memory_order_relaxed);
    return false;
  }
}

template <class Real>
void FunctionTerm::add_to(const ScoreTile<Real>& tile) const noexcept {
  constexpr Real kHidden = -std::numeric_limits<Real>::infinity();
  using Seen = TileFunction::Seen;
  const auto hide = [&] {
    for (std::int64_t i = 0; i < tile.queries; ++i) {
      std::fill_n(tile.scores + i * tile.stride, tile.keys, kHidden);
    }
  };
  const TermEffect known = effect(tile);
  if (known == TermEffect::hides) return hide();
  if (known == TermEffect::none) return;
  std::vector<Real> numbers(static_cast<std::size_t>(tile.queries * tile.keys));
  if (!run([&] { of_->write(tile, numbers.data(), tile.keys); })) return hide();
  bool any = false, all = true;
  for (std::int64_t i = 0; i < tile.queries; ++i) {
    for (std::int64_t j = 0; j < tile.keys; ++j) {
      const Real number = numbers[static_cast<std::size_t>(i * tile.keys + j)];
      any |= number != kHidden;
      all &= number != kHidden;
      tile.add(i, j, number);
    }
  }
  of_->remember(tile, !any ? Seen::none : all ? Seen::all : Seen::some);
}

void FunctionTerm::backward(const ScoreGradient<double>& tile) const noexcept {
  run([&] { of_->add_gradients(tile); });
}

void FunctionTerm::check(const CallExtents& call) const {
  const char* where = of_->is_mask() ? "mask" : "bias";
  if (of_->heads() != 1 && call.heads != of_->heads()) {
    throw Error(where + std::string(".heads"), "must be 1 or the heads of the call, " +
                                                   std::to_string(call.heads) + ", got " +
                                                   std::to_string(of_->heads()));
  }
  for (const SequenceExtents& sequence : call.sequences) {
    for (const IndexRange& range : {call.by_ids ? sequence.query_ids : sequence.seeing_queries,
                                    call.by_ids ? sequence.key_ids : sequence.visible_keys}) {
      if (range.is_empty() || (range.first >= 0 && range.last < of_->length())) continue;
      throw Error(where + std::string(".length"),
                  "must hold the positions of the call, " + std::to_string(range.first) + " .. " +
                      std::to_string(range.last) + ", got " + std::to_string(of_->length()));
    }
  }
}

TermEffect FunctionTerm::effect(const ScoreRect& rect) const noexcept {
  const TileFunction::Seen known = of_->seen(rect);
  if (known == TileFunction::Seen::none) return TermEffect::hides;
  return known == TileFunction::Seen::all && of_->is_mask() ? TermEffect::none : TermEffect::some;
}

void FunctionTerm::raise() const {
  if (!failed_.exchange(false)) return;
  std::rethrow_exception(std::exchange(error_, nullptr));
}

namespace {

nb::object function_term(nb::handle function, bool is_mask, nb::handle length, nb::handle heads,
                         nb::handle gradient, nb::handle parameters, nb::handle reduced) {
  const char* call = is_mask ? "mask" : "bias";
  if (PyCallable_Check(function.ptr()) == 0) {
    throw_type_error({function, call, "function"}, "a function of head, query and key positions");
  }
  const std::int64_t tokens =
      Argument{length, call, "length"}.integer_in({1, std::int64_t{1} << 30});
  const std::int64_t count = Argument{heads, call, "heads"}.integer_in({1, 1 << 20});
  const std::int64_t learned =
      Argument{parameters, call, "parameters"}.integer_in({0, std::int64_t{1} << 30});
  if (!gradient.is_none() && PyCallable_Check(gradient.ptr()) == 0) {
    throw_type_error({gradient, call, "gradient"}, "a function or None");
  }
  if (gradient.is_none() != (learned == 0)) {
    throw Error(std::string(call) + ".parameters",
                "must be given with gradient: how many numbers it gives, 1 or more");
  }
  auto of = std::make_shared<TileFunction>(
      nb::borrow(function), is_mask ? TileFunction::Kind::mask : TileFunction::Kind::bias, tokens,
      count, nb::borrow(gradient), learned);
  PyScoreTerm term{std::make_shared<FunctionTerm>(std::move(of)), count, tokens};
  term.reduced = nb::borrow(reduced);
  return nb::cast(std::move(term));
}

}  // namespace

void bind_function_terms(nb::module_& module) {
  module.def("function_term", &function_term, nb::arg("function").none(), nb::arg("is_mask"),
             nb::arg("length").none(), nb::arg("heads").none(), nb::arg("gradient").none(),
             nb::arg("parameters").none(), nb::arg("reduced"),
             nb::sig("def function_term(function: object, is_mask: bool, length: object, heads: "
                     "object, gradient: object, parameters: object, reduced: object) -> "
                     "ScoreTerm"));
}

}  // namespace sextant::python
