// The keys and values of the tokens so far.
#include <nanobind/stl/vector.h>

#include <variant>

#include "bindings.h"
#include "call_options.h"
#include "sextant/attention/kv_cache.h"

namespace sextant::python {
namespace {

constexpr std::string_view kName = "KvCache";
constexpr IntegerRange kSizes{0, std::int64_t{1} << 40};

// A cache of one of the three element types.
class PyKvCache {
 public:
  using Any = std::variant<KvCache<float>, KvCache<float16>, KvCache<bfloat16>>;

  PyKvCache(nb::handle batch, nb::handle kv_heads, nb::handle head_dim, nb::handle v_dim,
            nb::handle capacity, nb::handle dtype)
      : cache_(make({batch, kName, "batch"}, {kv_heads, kName, "kv_heads"},
                    {head_dim, kName, "head_dim"}, {v_dim, kName, "v_dim"},
                    {capacity, kName, "capacity"}, {dtype, kName, "dtype"})) {}

  // f(the cache, Type<its element>()).
  template <class F>
  auto with(const F& f) {
    return std::visit([&](auto& cache) { return f(cache, element_of(cache)); }, cache_);
  }

  void append(nb::handle k, nb::handle v, nb::handle counts) {
    const InputArray keys({k, "KvCache.append", "k"}), values({v, "KvCache.append", "v"});
    const Argument given{counts, "KvCache.append", "counts"};
    const auto numbers = counts.is_none() ? std::vector<std::int64_t>() : given.integers();
    with([&](auto& cache, auto type) {
      using T = typename decltype(type)::type;
      using Wider = typename KvCache<T>::Wider;
      const auto put = [&](auto element) {
        using E = decltype(element);
        values.expect(dtype_of<E>, ", as k");
        const nb::gil_scoped_release released;
        cache.append(keys.view<E>(), values.view<E>(), numbers);
      };
      if (keys.dtype() == dtype_of<Wider>) return put(Wider());
      keys.expect(dtype_of<T>, ", as the cache");
      put(T());
    });
  }

  nb::object attend(nb::handle q, nb::handle out, nb::handle log_sum_exp, const nb::dict& options) {
    constexpr std::string_view kCall = "KvCache.attend";
    const InputArray queries({q, kCall, "q"});
    queries.expect_rank(4, "[batch, heads, length, head_dim]");
    return with([&](auto& cache, auto type) {
      using T = typename decltype(type)::type;
      queries.expect(dtype_of<T>, ", as the cache");
      const CallOptions<T> call(kCall, options);
      const Shape& shape = queries.shape();
      const OutputArray result({out, kCall, "out"}, dtype_of<T>,
                               {shape[0], shape[1], shape[2], cache.v_dim()}, q);
      std::optional<OutputArray> sums;
      if (!log_sum_exp.is_none()) {
        sums.emplace(Argument{log_sum_exp, kCall, "log_sum_exp"}, DType::float32,
                     Shape{shape[0], shape[1], shape[2]});
      }
      {
        const nb::gil_scoped_release released;
        cache.attend(queries.view<T>(), result.view<T>(), call.options,
                     sums ? sums->template view<float>() : View<float>());
      }
      return result.object();
    });
  }

  void rewind(nb::handle length, nb::handle sequence) {
    const std::int64_t rows = Argument{length, "KvCache.rewind", "length"}.integer();
    with([&](auto& cache, auto) {
      if (sequence.is_none()) return cache.rewind(rows);
      cache.rewind(Argument{sequence, "KvCache.rewind", "sequence"}.integer(), rows);
    });
  }

  PyKvCache fork() {
    return with([](auto& cache, auto) { return PyKvCache(Any(cache.fork())); });
  }

  // A copy of what is stored, [batch, kv_heads, longest, ...]: the memory may move.
  nb::object stored(bool of_keys) {
    return with([&](auto& cache, auto) {
      return to_python(copy_of(of_keys ? cache.keys() : cache.values()));
    });
  }

 private:
  explicit PyKvCache(Any cache) : cache_(std::move(cache)) {}

  template <class T>
  static Type<T> element_of(const KvCache<T>&) {
    return {};
  }

  static Any make(const Argument& batch, const Argument& kv_heads, const Argument& head_dim,
                  const Argument& v_dim, const Argument& capacity, const Argument& dtype) {
    return with_float(dtype.dtype(), [&](auto type) -> Any {
      using T = typename decltype(type)::type;
      if constexpr (std::is_same_v<T, double>) {
        throw Error(dtype.where(), "must be float32, bfloat16 or float16, got float64");
      } else {
        const std::int64_t width = head_dim.integer_in(kSizes);
        return KvCache<T>(batch.integer_in(kSizes), kv_heads.integer_in(kSizes), width,
                          v_dim.is_none() ? width : v_dim.integer_in(kSizes),
                          capacity.integer_in(kSizes));
      }
    });
  }

  Any cache_;
};

// A property of whichever cache it is.
template <auto Get>
auto property() {
  return [](PyKvCache& self) { return self.with([](auto& cache, auto) { return Get(cache); }); };
}

}  // namespace

void bind_kv_cache(nb::module_& module) {
  nb::class_<PyKvCache>(module, "KvCache")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle>(),
           nb::arg("batch").none(), nb::arg("kv_heads").none(), nb::arg("head_dim").none(),
           nb::arg("v_dim").none(), nb::arg("capacity").none(), nb::arg("dtype").none())
      .def("append", &PyKvCache::append, nb::arg("k").none(), nb::arg("v").none(),
           nb::arg("counts").none())
      .def("attend", &PyKvCache::attend, nb::arg("q").none(), nb::arg("out").none(),
           nb::arg("log_sum_exp").none(), nb::arg("options"),
           nb::sig("def attend(self, q: object, out: object, log_sum_exp: object, options: "
                   "dict[str, typing.Any]) -> typing.Any"))
      .def(
          "reserve",
          [](PyKvCache& self, nb::handle capacity) {
            const auto rows = Argument{capacity, "KvCache.reserve", "capacity"}.integer_in(kSizes);
            self.with([&](auto& cache, auto) { cache.reserve(rows); });
          },
          nb::arg("capacity").none())
      .def("rewind", &PyKvCache::rewind, nb::arg("length").none(), nb::arg("sequence").none())
      .def("clear", property<[](auto& cache) { cache.clear(); }>())
      .def("fork", &PyKvCache::fork)
      .def("stored", &PyKvCache::stored, nb::arg("of_keys"),
           nb::sig("def stored(self, of_keys: bool) -> typing.Any"))
      .def_prop_ro("lengths", property<[](auto& cache) {
                     return std::vector<std::int64_t>(cache.lengths().begin(),
                                                      cache.lengths().end());
                   }>())
      .def_prop_ro("batch", property<[](auto& cache) { return cache.batch(); }>())
      .def_prop_ro("kv_heads", property<[](auto& cache) { return cache.kv_heads(); }>())
      .def_prop_ro("head_dim", property<[](auto& cache) { return cache.head_dim(); }>())
      .def_prop_ro("v_dim", property<[](auto& cache) { return cache.v_dim(); }>())
      .def_prop_ro("capacity", property<[](auto& cache) { return cache.capacity(); }>())
      .def_prop_ro("bytes", property<[](auto& cache) { return cache.bytes(); }>())
      .def_prop_ro("is_shared", property<[](auto& cache) { return cache.is_shared(); }>());
}

}  // namespace sextant::python
