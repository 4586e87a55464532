// What the standard library of Emscripten 3.1.6 (libc++ 13) lacks of C++20 and this project uses:
// std::bit_cast and algorithms over ranges. Included before every file of a WebAssembly build and
// nowhere else; a newer Emscripten needs none of it (docs/decisions/013-explorer.md).
#pragma once

#ifdef __cplusplus
#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <type_traits>
#include <utility>
#include <version>

namespace std {

#ifndef __cpp_lib_bit_cast
template <class To, class From>
constexpr To bit_cast(const From& from) noexcept {
  static_assert(sizeof(To) == sizeof(From) && is_trivially_copyable_v<From> &&
                is_trivially_copyable_v<To>);
  return __builtin_bit_cast(To, from);
}
#endif

#ifndef __cpp_lib_ranges
namespace ranges {

struct Identity {
  template <class T>
  T&& operator()(T&& value) const noexcept {
    return std::forward<T>(value);
  }
};

template <class Range, class Value, class Projection = Identity>
auto find(Range&& range, const Value& value, Projection projection = {}) {
  return std::find_if(std::begin(range), std::end(range),
                      [&](const auto& item) { return std::invoke(projection, item) == value; });
}
template <class Range, class Predicate>
auto find_if(Range&& range, Predicate predicate) {
  return std::find_if(std::begin(range), std::end(range), std::ref(predicate));
}
template <class Range, class Predicate, class Projection = Identity>
bool any_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return std::any_of(std::begin(range), std::end(range), [&](const auto& item) {
    return std::invoke(predicate, std::invoke(projection, item));
  });
}
template <class Range, class Predicate, class Projection = Identity>
bool all_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return std::all_of(std::begin(range), std::end(range), [&](const auto& item) {
    return std::invoke(predicate, std::invoke(projection, item));
  });
}
template <class Range, class Predicate, class Projection = Identity>
bool none_of(Range&& range, Predicate predicate, Projection projection = {}) {
  return !ranges::any_of(range, std::move(predicate), std::move(projection));
}
template <class Range, class Value, class Projection = Identity>
auto count(Range&& range, const Value& value, Projection projection = {}) {
  return std::count_if(std::begin(range), std::end(range),
                       [&](const auto& item) { return std::invoke(projection, item) == value; });
}
template <class Range, class Predicate>
auto count_if(Range&& range, Predicate predicate) {
  return std::count_if(std::begin(range), std::end(range), std::ref(predicate));
}
template <class First, class Second, class Equal = std::equal_to<>>
bool equal(First&& first, Second&& second, Equal equal = {}) {
  return std::equal(std::begin(first), std::end(first), std::begin(second), std::end(second),
                    std::ref(equal));
}
template <class Range, class Value>
void fill(Range&& range, const Value& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <class Range, class Value>
void replace(Range&& range, const Value& from, const Value& to) {
  std::replace(std::begin(range), std::end(range), from, to);
}
template <class Range, class Output>
auto copy(Range&& range, Output output) {
  return std::copy(std::begin(range), std::end(range), output);
}
template <class Range, class Output, class Function>
auto transform(Range&& range, Output output, Function function) {
  return std::transform(std::begin(range), std::end(range), output, std::ref(function));
}
template <class Range>
void reverse(Range&& range) {
  std::reverse(std::begin(range), std::end(range));
}

template <class Less, class Projection>
auto by(Less& less, Projection& projection) {
  return [&](const auto& a, const auto& b) {
    return std::invoke(less, std::invoke(projection, a), std::invoke(projection, b));
  };
}
template <class Range, class Less = std::less<>, class Projection = Identity>
void sort(Range&& range, Less less = {}, Projection projection = {}) {
  std::sort(std::begin(range), std::end(range), ranges::by(less, projection));
}
template <class Range, class Less = std::less<>, class Projection = Identity>
void stable_sort(Range&& range, Less less = {}, Projection projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), ranges::by(less, projection));
}
template <class Range, class Iterator, class Less = std::less<>>
void partial_sort(Range&& range, Iterator middle, Less less = {}) {
  std::partial_sort(std::begin(range), middle, std::end(range), std::ref(less));
}
template <class Range, class Iterator, class Less = std::less<>>
void nth_element(Range&& range, Iterator nth, Less less = {}) {
  std::nth_element(std::begin(range), nth, std::end(range), std::ref(less));
}
template <class Range, class Less = std::less<>, class Projection = Identity>
auto min_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::min_element(std::begin(range), std::end(range), ranges::by(less, projection));
}
template <class Range, class Less = std::less<>, class Projection = Identity>
auto max_element(Range&& range, Less less = {}, Projection projection = {}) {
  return std::max_element(std::begin(range), std::end(range), ranges::by(less, projection));
}
template <class Range, class Value, class Less = std::less<>, class Projection = Identity>
auto upper_bound(Range&& range, const Value& value, Less less = {}, Projection projection = {}) {
  return std::upper_bound(std::begin(range), std::end(range), value,
                          [&](const auto& wanted, const auto& item) {
                            return std::invoke(less, wanted, std::invoke(projection, item));
                          });
}

}  // namespace ranges
#endif

}  // namespace std
#endif
