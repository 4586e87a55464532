// Mistakes that a caller may make (see spoil.h).
#include "spoil.h"

#include <cmath>
#include <limits>

namespace sextant::fuzz {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// One that is neither finite nor -infinity.
double no_number(Choices& choices) { return choices.one_in(2) ? kNan : kInfinity; }

template <class T>
bool spoil_arrays(Handed<T>& h, const Call<T>& call, std::int64_t which) {
  switch (which) {
    case 0:
      h.k = h.k.narrow(3, 0, call.head_dim - 1);
      return true;
    case 1:
      h.v = h.v.narrow(2, 0, call.k_len / 2);
      return call.k_len > 0;
    case 2:
      h.q = h.q.select(0, 0);
      return true;
    case 3:
      h.out = h.out.transpose(1, 2);
      return call.heads_q != call.q_len;
    case 4: {  // several elements in one place
      const std::int64_t strides[4] = {};
      h.out = View<T>(h.out.data(), h.out.shape(), strides);
      return h.out.count() > 1;
    }
    case 5:
      h.q = View<const T>(call.q.view.data(), call.q.view.shape()).narrow(1, 0, 0);
      return true;
    case 6: {  // v's own memory
      const auto& v = call.v.view;
      if (!(v.shape() == h.out.shape()) || v.count() == 0) return false;
      h.out = v;
      return true;
    }
    default:
      if (call.kv_heads < 2) return false;
      h.q = h.q.narrow(1, 0, 1);  // one head for two
      h.out = h.out.narrow(1, 0, 1);
      return true;
  }
}

// As slopes or sinks.
template <class T>
void give_numbers(Handed<T>& h, Choices& choices) {
  if (choices.one_in(2)) {
    h.options.sinks = h.numbers;
    return;
  }
  h.bias.slopes = h.numbers;
  h.options.bias = &h.bias;
}

template <class T>
bool spoil_numbers(Handed<T>& h, const Call<T>& call, Choices& choices) {
  auto& o = h.options;
  switch (choices.integer(0, 8)) {
    case 0:
      o.softcap = choices.one_in(2) ? -1 : no_number(choices);
      return true;
    case 1:
      o.scale = no_number(choices);
      return true;
    case 2:
      o.threads = choices.one_in(2) ? -1 : std::numeric_limits<int>::max();
      return true;
    case 3:
      (choices.one_in(2) ? o.window.left : o.window.right) = -2;
      return true;
    case 4:
      h.numbers.assign(static_cast<std::size_t>(call.heads_q), 0);
      h.numbers.back() = no_number(choices);
      give_numbers(h, choices);
      return true;
    case 5:
      h.numbers.assign(static_cast<std::size_t>(call.heads_q) + 1, 0);
      give_numbers(h, choices);
      return true;
    case 6:
      o.causal = static_cast<Causal>(5);
      return true;
    case 7:
      h.mask = Tensor<bool>(Shape{call.k_len + 2});
      o.mask = h.mask;
      return true;
    default:
      h.log_sum_exp = View<float>(reinterpret_cast<float*>(h.out.data()), Shape{1, 1, 1, 1});
      return true;
  }
}

template <class T>
bool spoil_places(Handed<T>& h, const Call<T>& call, Choices& choices) {
  auto& o = h.options;
  const auto rows = static_cast<std::size_t>(call.batch);
  switch (choices.integer(0, 7)) {
    case 0:
      h.integers.assign(rows, call.k_len + 1);
      o.key_lengths = h.integers;
      return true;
    case 1:
      h.integers.assign(rows, -1);
      o.key_lengths = h.integers;
      return true;
    case 2:
      h.integers.assign(rows + 1, 0);
      (choices.one_in(2) ? o.key_lengths : o.query_offsets) = h.integers;
      return true;
    case 3:
      h.integers.assign(rows, 0);
      o.query_offsets = h.integers;
      o.causal = choices.one_in(2) ? Causal::top_left : Causal::bottom_right;
      return true;
    case 4:
      o.query_offsets = {};
      o.causal = Causal::at_offsets;
      return true;
    case 5:  // which alignment?
      o.query_offsets = {};
      o.causal.reset();
      o.window.left = 3;
      return call.q_len != call.k_len;
    case 6:
      h.integers = {0, call.q_len + 1};
      if (choices.one_in(2)) h.integers = {1, call.q_len};
      if (choices.one_in(2) && call.q_len > 1) h.integers = {0, call.q_len, 1, call.q_len};
      o.segments = h.integers;
      o.key_segments = {};
      return true;
    default:
      h.integers.assign(rows, std::int64_t{1} << 61);
      o.query_offsets = h.integers;
      o.causal = Causal::none;
      return true;
  }
}

template <class T>
bool spoil_tables(Handed<T>& h, const Call<T>& call, Choices& choices) {
  auto& o = h.options;
  // Otherwise nobody may look at the table: no pair is left to have a distance.
  o.key_lengths = {};
  o.query_offsets = {};
  o.segments = o.key_segments = {};
  o.causal = Causal::none;
  o.window = {};
  if (call.q_len == 0 || call.k_len == 0) return false;
  switch (choices.integer(0, 4)) {
    case 0:
      h.bias.values = Tensor<float>(Shape{1, call.q_len + call.k_len - 2});  // one too few
      h.bias.origin = call.q_len - 1;
      break;
    case 1:
      h.bias.values = Tensor<float>(Shape{call.heads_q + 1, 1001});
      h.bias.origin = 500;
      break;
    case 2:
      h.bias.values = Tensor<float>(Shape{1, 1001});
      h.bias.origin = choices.one_in(2) ? -1 : std::numeric_limits<std::int64_t>::max();
      break;
    case 3: {
      const std::int64_t positions = std::max(call.q_len, call.k_len) - 1;
      h.rotation = {Tensor<float>(Shape{positions, 0}), Tensor<float>(Shape{positions, 0})};
      o.rotation = &h.rotation;
      return true;
    }
    default: {
      const Shape shape{400, call.head_dim / 2 + 1};  // more channels than a head has
      h.rotation = {Tensor<float>(shape), Tensor<float>(shape)};
      o.rotation = &h.rotation;
      return true;
    }
  }
  o.bias = &h.bias;
  return true;
}

}  // namespace

template <class T>
bool spoil(Handed<T>& h, const Call<T>& call, Choices& choices) {
  switch (choices.integer(0, 3)) {
    case 0:
      return spoil_arrays(h, call, choices.integer(0, 7));
    case 1:
      return spoil_numbers(h, call, choices);
    case 2:
      return spoil_places(h, call, choices);
    default:
      return spoil_tables(h, call, choices);
  }
}

template bool spoil(Handed<float>&, const Call<float>&, Choices&);
template bool spoil(Handed<double>&, const Call<double>&, Choices&);
template bool spoil(Handed<float16>&, const Call<float16>&, Choices&);
template bool spoil(Handed<bfloat16>&, const Call<bfloat16>&, Choices&);

}  // namespace sextant::fuzz
