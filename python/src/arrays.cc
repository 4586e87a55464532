// Arrays in and out.
#include "arrays.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "array_types.h"

namespace sextant::python {
namespace {

// The element type that DLPack's code and bits say, where the library has it.
std::optional<DType> dtype_from(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto sized = [&type](DType of8, DType of16, DType of32, DType of64) {
    return type.bits == 8 ? of8 : type.bits == 16 ? of16 : type.bits == 32 ? of32 : of64;
  };
  if (type.lanes != 1) return {};
  if (type.bits != 8 && type.bits != 16 && type.bits != 32 && type.bits != 64) return {};
  switch (static_cast<Code>(type.code)) {
    case Code::Bool:
      return type.bits == 8 ? std::optional(DType::boolean) : std::nullopt;
    case Code::Int:
      return sized(DType::int8, DType::int16, DType::int32, DType::int64);
    case Code::UInt:
      return sized(DType::uint8, DType::uint16, DType::uint32, DType::uint64);
    case Code::Float:
      if (type.bits == 8) return {};
      return sized(DType::float16, DType::float16, DType::float32, DType::float64);
    case Code::Bfloat:
      return type.bits == 16 ? std::optional(DType::bfloat16) : std::nullopt;
    default:
      return {};
  }
}

nb::dlpack::dtype dlpack_of(DType type) {
  using Code = nb::dlpack::dtype_code;
  const auto bits = static_cast<std::uint8_t>(8 * dtype_size(type));
  const Code code = type == DType::boolean    ? Code::Bool
                    : type == DType::bfloat16 ? Code::Bfloat
                    : is_float(type)          ? Code::Float
                    : type < DType::uint8     ? Code::Int
                                              : Code::UInt;
  return {static_cast<std::uint8_t>(code), bits, 1};
}

// The array as DLPack or the buffer protocol show it, and its elements.
template <class Array>
bool import_array(const Argument& argument, Array& array, Elements& elements,
                  Gradients gradients = Gradients::kept) {
  const nb::handle value = argument.value;
  if (!PyCapsule_CheckExact(value.ptr())) {  // DLPack's own has nothing else to check
    if (is_masked(value)) {
      throw_type_error(argument, "an array without a mask, as filled() gives");
    }
    refuse_unresolved(argument, gradients);
    if (!has_sound_buffer(value)) return false;
  }
  nb::object seen = nb::borrow(value);
  bool is_bfloat16 = false;
  if (!nb::try_cast(seen, array, false)) {
    PyErr_Clear();  // a buffer that was refused
    if (!is_numpy_bfloat16(value)) return false;
    seen = value.attr("view")("uint16");
    is_bfloat16 = true;
    if (!nb::try_cast(seen, array, false)) return false;
  }
  const std::optional<DType> type = dtype_from(array.dtype());
  if (!type || array.ndim() > kMaxRank) return false;
  elements.dtype = is_bfloat16 ? DType::bfloat16 : *type;
  elements.data = const_cast<void*>(static_cast<const void*>(array.data()));
  elements.shape = Shape(std::span(array.shape_ptr(), array.ndim()));
  for (std::size_t axis = 0; axis < array.ndim(); ++axis) {
    elements.strides[axis] = array.stride(axis);
  }
  if (elements.data == nullptr && elements.shape.count() > 0) {
    throw Error(argument.where(), "must have memory for its elements, got a null pointer");
  }
  return true;
}

void check_on_cpu(int device_type, const Argument& argument) {
  if (device_type == nb::device::cpu::value) return;
  throw Error(argument.where(), "must be in the memory of the CPU, got an array on another device");
}

// f(an unsigned number of as many bits as an element of the type).
template <class F>
void with_bits(DType dtype, const F& f) {
  const std::size_t size = dtype_size(dtype);
  if (size == 1) f(std::uint8_t{});
  if (size == 2) f(std::uint16_t{});
  if (size == 4) f(std::uint32_t{});
  if (size == 8) f(std::uint64_t{});
}

// Copies from contiguous memory; moves `from` after the last element.
template <class T>
void copy_elements(View<T> to, const T*& from) {
  if (to.rank() == 0) {
    *to.data() = *from++;
  } else if (to.rank() == 1) {
    for (std::int64_t i = 0; i < to.size(0); ++i) to(i) = *from++;
  } else {
    for (std::int64_t i = 0; i < to.size(0); ++i) copy_elements(to.select(0, i), from);
  }
}

}  // namespace

std::string HeadAxes::names() const {
  if (rank == 2) return "[length, head_dim]";
  const std::string last = length_first ? "length, heads, head_dim]" : "heads, length, head_dim]";
  return (rank == 4 ? "[batch, " : "[") + last;
}

Shape HeadAxes::outside(const Shape& four) const {
  std::array<std::int64_t, 4> sizes{four[0], four[1], four[2], four[3]};
  if (length_first) std::swap(sizes[1], sizes[2]);
  if (rank == 2) sizes[1] = sizes[2] = four[2];
  return Shape(std::span(sizes).last(static_cast<std::size_t>(rank)));
}

Shape HeadAxes::without_lead(const Shape& shape) const {
  return Shape(std::span(shape.begin(), shape.end()).subspan(static_cast<std::size_t>(4 - rank)));
}

void InputArray::as_heads(const HeadAxes& axes) {
  if (shape().rank() != axes.rank) expect_rank(axes.rank, axes.names());
  if (axes.rank == 4 && !axes.length_first) return;
  const auto lead = static_cast<std::size_t>(4 - axes.rank);
  std::array<std::int64_t, 4> sizes{1, 1, 1, 1}, strides{};
  for (std::size_t axis = lead; axis < 4; ++axis) {
    sizes[axis] = shape()[static_cast<int>(axis - lead)];
    strides[axis] = elements_.strides[axis - lead];
  }
  if (axes.length_first && axes.rank > 2) {
    std::swap(sizes[1], sizes[2]);
    std::swap(strides[1], strides[2]);
  }
  elements_.shape = Shape(sizes);
  std::ranges::copy(strides, elements_.strides.begin());
}

InputArray::InputArray(const Argument& argument, Gradients gradients) : argument_(argument) {
  if (!import_array(argument, array_, elements_, gradients)) {
    throw_type_error(argument, "an array of numbers (NumPy's, or with DLPack or a buffer)");
  }
  check_on_cpu(array_.device_type(), argument);
}

void InputArray::expect(DType dtype, std::string_view why) const {
  if (elements_.dtype == dtype) return;
  throw WrongType("[" + argument_.where() + "] must be of " + std::string(dtype_name(dtype)) +
                  std::string(why) + ", got " + std::string(dtype_name(elements_.dtype)));
}

void InputArray::expect_rank(int rank, std::string_view axes) const {
  if (shape().rank() == rank) return;
  throw Error(argument_.where(),
              "must be " + std::string(axes) + ", got the shape " + shape().to_string());
}

Array InputArray::copy() const {
  Array array{dtype(), shape(),
              Tensor<std::byte>::uninitialized(
                  {shape().count() * static_cast<std::int64_t>(dtype_size(dtype()))})};
  with_bits(dtype(), [&](auto bits) {
    const auto same = copy_of(view<decltype(bits)>());
    std::memcpy(array.bytes.data(), same.data(), array.bytes.span().size());
  });
  return array;
}

void OutputArray::assign(const Array& array) const {
  with_bits(elements_.dtype, [&](auto bits) {
    const auto* from = reinterpret_cast<const decltype(bits)*>(array.bytes.data());
    copy_elements(elements_.view<decltype(bits)>(), from);
  });
}

OutputArray::OutputArray(const Argument& out, DType dtype, const Shape& shape, nb::handle like)
    : out_(out.value), like_(like) {
  if (out.value.is_none()) {
    auto* kept = new Tensor<std::byte>(Tensor<std::byte>::uninitialized(
        {shape.count() * static_cast<std::int64_t>(dtype_size(dtype))}));
    owner_ = nb::capsule(kept, [](void* p) noexcept { delete static_cast<Tensor<std::byte>*>(p); });
    elements_ = {kept->data(), dtype, shape, {}};
    std::int64_t stride = 1;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      elements_.strides[static_cast<std::size_t>(axis)] = stride;
      stride *= shape[axis];
    }
    return;
  }
  if (!import_array(out, array_, elements_)) {
    throw_type_error(out, "an array of numbers that can be written to");
  }
  check_on_cpu(array_.device_type(), out);
  if (elements_.dtype != dtype) {
    throw WrongType("[" + out.where() + "] must be of " + std::string(dtype_name(dtype)) +
                    ", got " + std::string(dtype_name(elements_.dtype)));
  }
  if (!(elements_.shape == shape)) {
    throw Error(out.where(),
                "must be of shape " + shape.to_string() + ", got " + elements_.shape.to_string());
  }
}

nb::object OutputArray::finished() && {
  if (!owner_.is_valid()) return nb::borrow(out_);
  const nb::object owner = std::move(owner_);
  return array_object(elements_.data, elements_.dtype, elements_.shape, owner, like_);
}

nb::object array_object(void* data, DType dtype, const Shape& shape, nb::handle owner,
                        nb::handle like, bool writable) {
  std::array<std::size_t, kMaxRank> sizes{};
  for (int axis = 0; axis < shape.rank(); ++axis) {
    sizes[static_cast<std::size_t>(axis)] = static_cast<std::size_t>(shape[axis]);
  }
  const auto rank = static_cast<std::size_t>(shape.rank());
  const std::string library = library_of(like);
  const auto as = [&](auto framework, DType type) {
    using Framework = decltype(framework);
    if (!writable) {
      return nb::cast(nb::ndarray<Framework, nb::ro>(data, rank, sizes.data(), owner, nullptr,
                                                     dlpack_of(type), nb::device::cpu::value));
    }
    return nb::cast(nb::ndarray<Framework>(data, rank, sizes.data(), owner, nullptr,
                                           dlpack_of(type), nb::device::cpu::value));
  };
  if (library == "torch") return as(nb::pytorch{}, dtype);
  if (library == "jax") return as(nb::jax{}, dtype);
  if (library == "mlx") return as(nb::mlx{}, dtype);
  if (dtype != DType::bfloat16) return as(nb::numpy{}, dtype);
  // NumPy itself has no bfloat16.
  const nb::object type = like.is_valid() && is_numpy_bfloat16(like)
                              ? nb::object(like.attr("dtype"))
                              : nb::module_::import_("ml_dtypes").attr("bfloat16");
  return as(nb::numpy{}, DType::uint16).attr("view")(type);
}

}  // namespace sextant::python
