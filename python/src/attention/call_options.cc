// Options of a call, each read by its name.
#include "attention/call_options.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>

#include "sextant/core/error.h"

namespace sextant::python {
namespace {

constexpr std::string_view kOptionNames[] = {
    "bias",        "causal",        "dropout",  "dropout_seed",
    "key_lengths", "key_segments",  "mask",     "matmul_precision",
    "positions",   "query_offsets", "rotation", "scale",
    "segments",    "sinks",         "slopes",   "softcap",
    "threads",     "window"};
constexpr std::string_view kLayouts[] = {"bhld", "blhd"};

// An empty list is a shape that fits no call; an absent one is None.
template <class List>
const List& some(const Argument& argument, const List& list) {
  if (list.size() > 0) return list;
  throw Error(argument.where(), "must not be empty; None leaves it out");
}

}  // namespace

HeadAxes axes_of(const InputArray& q, nb::handle layout) {
  HeadAxes axes{.rank = q.shape().rank()};
  const bool is_default =
      !layout.is_valid() || (nb::isinstance<nb::str>(layout) &&
                             PyUnicode_CompareWithASCIIString(layout.ptr(), "bhld") == 0);
  if (!is_default) {
    axes.length_first = Argument{layout, q.argument().scope, "layout"}.index_in(kLayouts) == 1;
  }
  if (axes.rank < 2 || axes.rank > 4) {
    const bool length_first = axes.length_first;
    q.expect_rank(4, HeadAxes{4, length_first}.names() + ", " + HeadAxes{3, length_first}.names() +
                         " or " + HeadAxes{2}.names());
  }
  return axes;
}

nb::handle layout_in(const nb::dict& options) {
  static PyObject* const name = PyUnicode_InternFromString("layout");
  return PyDict_GetItemWithError(options.ptr(), name);
}

Inputs::Inputs(std::string_view function, const nb::dict& options, nb::handle q_value,
               nb::handle k_value, nb::handle v_value)
    : q({q_value, function, "q"}),
      k({k_value, function, "k"}),
      axes(axes_of(q, layout_in(options))) {
  q.as_heads(axes);
  k.as_heads(axes);
  k.expect(q.dtype(), ", as q");
  if (!v_value.is_valid()) return;
  v = InputArray({v_value, function, "v"});
  v.as_heads(axes);
  v.expect(q.dtype(), ", as q");
}

nb::object finished(OutputArray&& result, std::optional<OutputArray>&& sums, bool both) {
  nb::object out = std::move(result).finished();
  if (!both) return out;
  return nb::make_tuple(out, (*std::move(sums)).finished());
}

template <class T>
CallOptions<T>::CallOptions(std::string_view function, const nb::dict& given,
                            const CausalFlag& flag) {
  std::optional<bool> is_causal;
  kept_.reserve(given.size());
  for (const auto [key, value] : given) {
    Py_ssize_t size = 0;  // keywords are texts
    const char* text = PyUnicode_AsUTF8AndSize(key.ptr(), &size);
    if (text == nullptr) throw nb::python_error();
    if (value.is_none()) continue;  // of most options
    const std::string_view given_name(text, static_cast<std::size_t>(size));
    if (given_name == "layout") continue;  // read with the arrays
    if ((given_name == "softcap" || given_name == "dropout") &&
        PyFloat_CheckExact(value.ptr()) != 0 && PyFloat_AsDouble(value.ptr()) == 0) {
      continue;  // off, as most are
    }
    if (given_name == "matmul_precision" && nb::isinstance<nb::str>(value) &&
        PyUnicode_CompareWithASCIIString(value.ptr(), "float32") == 0) {
      continue;
    }
    if (given_name == "threads" && PyLong_CheckExact(value.ptr()) != 0) {
      options.threads = Argument{value, function, "threads"}.threads();
      continue;
    }
    const auto name = std::ranges::find(kOptionNames, given_name);
    if (name == std::end(kOptionNames)) {
      throw WrongType(std::string(function) + "() got an unexpected keyword argument '" +
                      std::string(given_name) + "'");
    }
    kept_.push_back(nb::borrow(value));
    if (*name == "causal" && !nb::isinstance<nb::str>(value)) is_causal = bool_of(value);
    if (*name != "causal" || !is_causal) set(Argument{value, function, *name});
  }
  if (is_causal) set_causal(*is_causal, Argument{nb::none(), function, "causal"}, flag);
  if (slopes_.empty()) return;
  // A table and slopes together are one bias, which is this call's own.
  if (options.bias != nullptr && options.bias != &bias_) {
    bias_.values = options.bias->values.clone();
    bias_.origin = options.bias->origin;
    if (!options.bias->slopes.empty()) {
      throw Error(std::string(function) + ".slopes", "must not be given for a bias with slopes");
    }
  }
  bias_.slopes = std::move(slopes_);
  options.bias = &bias_;
}

template <class T>
void CallOptions<T>::set(const Argument& argument) {
  const std::string_view name = argument.name;
  const auto list = [&](std::vector<std::int64_t>& kept) {
    return std::span(some(argument, kept = argument.integers()));
  };
  if (name == "causal") {
    options.causal = argument.choice<Causal>();
  } else if (name == "window") {
    set_window(argument);
  } else if (name == "mask") {
    set_mask(argument);
  } else if (name == "bias") {
    set_bias(argument);
  } else if (name == "slopes") {
    some(argument, slopes_ = argument.numbers());
  } else if (name == "scale") {
    options.scale = argument.number();
  } else if (name == "softcap") {
    options.softcap = argument.number();
  } else if (name == "dropout") {
    options.dropout = argument.number();
  } else if (name == "dropout_seed") {
    options.dropout_seed = static_cast<std::uint64_t>(
        argument.integer_in({0, std::numeric_limits<std::int64_t>::max()}));
  } else if (name == "matmul_precision") {
    options.matmul_precision = argument.choice<MatmulPrecision>();
  } else if (name == "segments") {
    options.segments = list(segments_);
  } else if (name == "key_segments") {
    options.key_segments = list(key_segments_);
  } else if (name == "key_lengths") {
    options.key_lengths = list(key_lengths_);
  } else if (name == "query_offsets") {
    options.query_offsets = list(query_offsets_);
  } else if (name == "positions") {
    set_positions(argument);
  } else if (name == "sinks") {
    options.sinks = some(argument, sinks_ = argument.numbers());
  } else if (name == "rotation") {
    const auto* rotation = held<PyRotation>(argument.value);
    if (rotation == nullptr) throw_type_error(argument, "a RotationTable");
    const auto* table = std::get_if<SharedRotation<float>>(&rotation->table);
    if (table == nullptr) throw_type_error(argument, "a RotationTable of dtype float32");
    options.rotation = table->get();
  } else if (name == "threads") {
    options.threads = argument.threads();
  }
}

template <class T>
void CallOptions<T>::set_causal(bool is_causal, const Argument& argument, const CausalFlag& flag) {
  if (!is_causal) {
    options.causal = Causal::none;
    return;
  }
  if (flag.is_cache) return;  // unset: the queries are the last positions
  const bool same_segments =
      options.key_segments.empty() || std::ranges::equal(options.segments, options.key_segments);
  if (flag.q_len != flag.k_len || !same_segments) {
    throw Error(
        argument.where(),
        "must be a name where queries and keys have different lengths, " +
            std::to_string(flag.q_len) + " and " + std::to_string(flag.k_len) +
            ": 'top_left' (query i sees key j <= i: torch's is_causal), 'bottom_right' (the "
            "last query sees every key: flash-attention's causal) or 'at_lengths' (the last "
            "query sees every key before key_lengths: flash-attention's cache_seqlens)");
  }
  options.causal = Causal::top_left;
}

template <class T>
void CallOptions<T>::set_window(const Argument& argument) {
  if (PyLong_Check(argument.value.ptr()) != 0) {
    const std::string n = text_of(argument.value);
    throw_type_error(argument,
                     "(left, right), how many keys before and after the diagonal are "
                     "visible, -1 for all, as (" +
                         n + ", 0) or (" + n + ", " + n + ")");
  }
  const std::vector<std::int64_t> window = argument.integers();
  if (window.size() != 2) throw Error(argument.where(), "must be (left, right)");
  options.window = {window[0], window[1]};
}

template <class T>
void CallOptions<T>::set_mask(const Argument& argument) {
  if (nb::isinstance<nb::str>(argument.value)) {
    throw_type_error(argument, "an array; causal='bottom_right' is what MLX calls mask='causal'");
  }
  mask_ = InputArray(argument);
  if (mask_.dtype() == DType::boolean) {
    options.mask = mask_.view<bool>();
  } else if (mask_.dtype() == dtype_of<Wide>) {
    options.mask = mask_.view<Wide>();
  } else if (is_float(mask_.dtype())) {
    converted_mask_ = mask_.copy().to<Wide>();
    options.mask = FloatMask<T>(converted_mask_);
  } else {
    throw WrongType("[" + argument.where() + "] must be of bool or floats, got " +
                    std::string(dtype_name(mask_.dtype())));
  }
}

template <class T>
View<const std::int64_t> CallOptions<T>::ids_of(const Argument& argument) {
  const InputArray array(argument);
  if (array.shape().rank() != 1) array.expect_rank(2, "[batch or 1, length] or [length]");
  if (is_float(array.dtype()) || array.dtype() == DType::boolean) {
    throw_type_error(argument, "an array of whole numbers");
  }
  // A copy, because ids are checked and then read again, and others may write to their memory.
  const View<const std::int64_t> ids = ids_.emplace_back(array.copy().to<std::int64_t>());
  return ids.rank() == 2 ? ids : ids.split(0, 1);
}

template <class T>
void CallOptions<T>::set_positions(const Argument& argument) {
  ids_.reserve(2);
  if (!nb::isinstance<nb::tuple>(argument.value)) {
    options.query_positions = options.key_positions = ids_of(argument);
    return;
  }
  const nb::tuple both = nb::borrow<nb::tuple>(argument.value);
  if (both.size() != 2) throw Error(argument.where(), "must be ids or (of queries, of keys)");
  const nb::object queries = both[0], keys = both[1];
  options.query_positions = ids_of({queries, argument.scope, argument.name});
  options.key_positions = ids_of({keys, argument.scope, argument.name});
}

template <class T>
void CallOptions<T>::set_bias(const Argument& argument) {
  if (nb::isinstance<nb::list>(argument.value) || nb::isinstance<nb::tuple>(argument.value)) {
    // Taken out first: reading an array may run code that changes the list.
    const nb::tuple parts(argument.value);
    kept_.push_back(parts);
    some(argument, parts);
    for (const nb::handle one : parts) add_bias({one, argument.scope, argument.name});
    return;
  }
  add_bias(argument);
}

template <class T>
void CallOptions<T>::add_bias(const Argument& argument) {
  const auto once = [&](const void* kept) {
    if (kept != nullptr) throw Error(argument.where(), "must have at most one bias by distance");
  };
  if (auto* distance = held<PyDistanceBias>(argument.value)) {
    once(options.bias);
    options.bias = &distance->bias;
  } else if (auto* score_term = held<PyScoreTerm>(argument.value)) {
    if (logit_term_of(options) != nullptr && score_term->term->needs().before_softcap) {
      throw Error(argument.where(), "must have at most one term that is added before the softcap");
    }
    const ScoreTerm* term = score_term->term.get();
    if (const auto* function = dynamic_cast<const FunctionTerm*>(term)) {
      term = functions_.emplace_back(std::make_unique<FunctionTerm>(function->of())).get();
    }
    options.terms.push_back(term);
  } else {
    once(options.bias);
    const InputArray array(argument);
    if (array.shape().rank() > 2) {
      throw Error(argument.where(),
                  "must be by distance, [heads or 1, 2 * length - 1]; mask= takes an array [..., "
                  "heads, q_len, k_len] of floats that is added, got the shape " +
                      array.shape().to_string());
    }
    array.expect_rank(2, "[heads or 1, 2 * length - 1], or what a scheme made");
    if (!is_float(array.dtype())) throw_type_error(argument, "an array of floats");
    if (array.shape()[1] % 2 == 0) {
      throw Error(argument.where(),
                  "must have an odd number of distances, [heads, 2 * length - 1], got " +
                      array.shape().to_string());
    }
    bias_.values = array.copy().to<float>();
    bias_.origin = array.shape()[1] / 2;
    options.bias = &bias_;
  }
}

template class CallOptions<float>;
template class CallOptions<double>;
template class CallOptions<float16>;
template class CallOptions<bfloat16>;

}  // namespace sextant::python
