// Arrays of Python as views of the library, and back. In: DLPack, the buffer protocol, and NumPy's
// arrays of ml_dtypes.bfloat16, which have neither, without a copy. Out: NumPy, or the library that
// an input came from, which may copy.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "arguments.h"
#include "array_types.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "sextant/core/tensor.h"

namespace sextant::python {

// The memory of an array of Python's, as DLPack describes it.
struct Elements {
  void* data = nullptr;
  DType dtype = DType::float32;
  Shape shape{0};
  std::array<std::int64_t, kMaxRank> strides{};

  template <class T>
  View<T> view() const {  // dtype must be T's
    return View<T>(static_cast<T*>(data), shape,
                   std::span(strides.data(), static_cast<std::size_t>(shape.rank())));
  }
};

// The axes of queries, keys and values in the caller's array: [batch, heads, length, channels],
// without the first or the first two of these, or with the heads after the length.
struct HeadAxes {
  int rank = 4;
  bool length_first = false;

  // Names of the axes, "[length, heads, head_dim]".
  std::string names() const;
  // [batch, heads, length, channels] as the caller has it.
  Shape outside(const Shape& four) const;
  // A shape that begins with batch and heads, without those that the caller's arrays lack.
  Shape without_lead(const Shape& shape) const;
  // The caller's view as [batch, heads, length, channels].
  template <class T>
  View<T> inside(View<T> view) const {
    if (length_first && rank > 2) view = view.transpose(rank - 3, rank - 2);
    return with_lead(view, 4);
  }
  // With axes of size 1 in front, up to `axes`.
  template <class T>
  static View<T> with_lead(View<T> view, int axes) {
    while (view.rank() < axes) view = view.unsqueeze(0);
    return view;
  }
};

class InputArray {
 public:
  InputArray() = default;  // none
  // Throws TypeError for objects that are no arrays, ValueError for one that is not in the CPU's
  // memory.
  explicit InputArray(const Argument& argument, Gradients gradients = Gradients::kept);

  bool has_value() const { return array_.is_valid(); }
  DType dtype() const { return elements_.dtype; }
  const Shape& shape() const { return elements_.shape; }
  template <class T>
  View<const T> view() const {
    return elements_.view<const T>();
  }
  // A copy; copy().to<T>() are its elements converted to T.
  Array copy() const;

  // From here on the array is seen as [batch, heads, length, channels]. Throws unless it has the
  // rank of `axes`.
  void as_heads(const HeadAxes& axes);

  // Throw unless it has this type, or this rank with axes "[batch, heads, length, head_dim]".
  void expect(DType dtype, std::string_view why) const;
  void expect_rank(int rank, std::string_view axes) const;

  nb::handle object() const { return argument_.value; }
  const Argument& argument() const { return argument_; }

 private:
  Argument argument_;
  nb::ndarray<nb::ro> array_;
  Elements elements_;
};

// Where a result goes: an array of the caller's (`out=`), or memory that becomes a new one.
class OutputArray {
 public:
  // `like`: an input whose library makes a new array; NumPy does without one. The objects of `out`
  // and `like` must outlive this.
  OutputArray(const Argument& out, DType dtype, const Shape& shape, nb::handle like = {});

  template <class T>
  View<T> view() const {
    return elements_.view<T>();
  }
  void assign(const Array& array) const;  // of the same type and shape

  // The array, when everything is written: the library that makes a new one may copy the memory, as
  // MLX does, so nothing may be written to it afterwards.
  nb::object finished() &&;

 private:
  nb::object owner_;  // of the memory that becomes a new array
  nb::handle out_, like_;
  nb::ndarray<> array_;
  Elements elements_;
};

// Memory that `owner` keeps alive, as an array of NumPy's or of the library of `like`.
nb::object array_object(void* data, DType dtype, const Shape& shape, nb::handle owner,
                        nb::handle like = {}, bool writable = true);

// A tensor of the library's as a new array.
template <class T>
nb::object to_python(Tensor<T> tensor, const Shape& shape, nb::handle like = {}) {
  auto* kept = new Tensor<T>(std::move(tensor));
  const nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Tensor<T>*>(p); });
  return array_object(kept->data(), dtype_of<T>, shape, owner, like);
}
template <class T>
nb::object to_python(Tensor<T> tensor, nb::handle like = {}) {
  const Shape shape = tensor.shape();
  return to_python(std::move(tensor), shape, like);
}

// A list as a new array of one axis.
template <class T>
nb::object to_python(const std::vector<T>& list) {
  auto array = Tensor<T>::uninitialized({std::ssize(list)});
  std::ranges::copy(list, array.data());
  return to_python(std::move(array));
}

// The numbers of a tensor that `owner` has, a read-only view.
template <class T>
nb::object numbers_of(const Tensor<T>& numbers, nb::handle owner) {
  return array_object(const_cast<T*>(numbers.data()), dtype_of<T>, numbers.shape(), owner, {},
                      false);
}

template <class T>
struct Type {
  using type = T;
};

// f(Type<T>()) for the C++ type of a float; throws TypeError naming the array for another one.
template <class F>
auto with_float(const InputArray& array, const F& f) {
  switch (array.dtype()) {
    case DType::float32:
      return f(Type<float>());
    case DType::float64:
      return f(Type<double>());
    case DType::float16:
      return f(Type<float16>());
    case DType::bfloat16:
      return f(Type<bfloat16>());
    default:
      throw WrongType("[" + array.argument().where() +
                      "] must be of float32, bfloat16, float16 or float64, got " +
                      std::string(dtype_name(array.dtype())));
  }
}
template <class F>
auto with_float(DType dtype, const F& f) {
  if (dtype == DType::float64) return f(Type<double>());
  if (dtype == DType::float16) return f(Type<float16>());
  if (dtype == DType::bfloat16) return f(Type<bfloat16>());
  return f(Type<float>());
}

}  // namespace sextant::python
