// The keys and values of the tokens so far.
#include <nanobind/stl/vector.h>

#include <utility>
#include <variant>

#include "attention/call_options.h"
#include "bindings.h"
#include "object_lock.h"
#include "sextant/attention/kv_cache.h"

namespace sextant::python {
namespace {

constexpr std::string_view kCacheName = "KvCache";
constexpr IntegerRange kCacheSizes{0, std::int64_t{1} << 40};

// A cache of one of the three element types, which several threads may use at once.
class PyKvCache {
 public:
  using Any = std::variant<KvCache<float>, KvCache<float16>, KvCache<bfloat16>>;

  PyKvCache(nb::handle batch, nb::handle kv_heads, nb::handle head_dim, nb::handle v_dim,
            nb::handle capacity, nb::handle dtype)
      : cache_(make({batch, kCacheName, "batch"}, {kv_heads, kCacheName, "kv_heads"},
                    {head_dim, kCacheName, "head_dim"}, {v_dim, kCacheName, "v_dim"},
                    {capacity, kCacheName, "capacity"}, {dtype, kCacheName, "dtype"})) {}

  // f(the cache), under its lock.
  template <class F>
  auto read(const F& f) const {
    return lock_.read([&] { return std::visit(f, cache_); });
  }
  template <class F>
  auto change(const F& f) {
    return lock_.change([&] { return std::visit(f, cache_); });
  }

  // f(Type<the element>()). Which one it is never changes, so it needs no lock.
  template <class F>
  auto with_element(const F& f) const {
    return std::visit([&]<class T>(const KvCache<T>&) { return f(Type<T>()); }, cache_);
  }
  template <class T>
  KvCache<T>& cache_of() {
    return std::get<KvCache<T>>(cache_);
  }
  template <class T>
  const KvCache<T>& cache_of() const {
    return std::get<KvCache<T>>(cache_);
  }

  void append(nb::handle k, nb::handle v, nb::handle counts, nb::handle layout) {
    InputArray keys({k, "KvCache.append", "k"}), values({v, "KvCache.append", "v"});
    const HeadAxes axes = axes_of(keys, layout);
    keys.as_heads(axes);
    values.as_heads(axes);
    const Argument given{counts, "KvCache.append", "counts"};
    const auto numbers = counts.is_none() ? std::vector<std::int64_t>() : given.integers();
    with_element([&](auto type) {
      using T = typename decltype(type)::type;
      using Wider = typename KvCache<T>::Wider;
      const auto put = [&](auto element) {
        using E = decltype(element);
        values.expect(dtype_of<E>, ", as k");
        lock_.change([&] { cache_of<T>().append(keys.view<E>(), values.view<E>(), numbers); });
      };
      if (keys.dtype() == dtype_of<Wider>) return put(Wider());
      keys.expect(dtype_of<T>, ", as the cache");
      put(T());
    });
  }

  nb::object attend(nb::handle q, nb::handle out, nb::handle log_sum_exp, const nb::dict& options,
                    nb::handle return_sums) {
    constexpr std::string_view kCall = "KvCache.attend";
    const bool both = Argument{return_sums, kCall, "return_log_sum_exp"}.flag();
    InputArray queries({q, kCall, "q"});
    const HeadAxes axes = axes_of(queries, layout_in(options));
    queries.as_heads(axes);
    return with_element([&](auto type) -> nb::object {
      using T = typename decltype(type)::type;
      const bool wide = queries.dtype() == DType::float32;
      if (!wide) queries.expect(dtype_of<T>, ", as the cache, or float32");
      const CallOptions<T> call(kCall, options, CausalFlag{.is_cache = true});
      const Shape& shape = queries.shape();
      OutputArray result({out, kCall, "out"}, queries.dtype(),
                         axes.outside({shape[0], shape[1], shape[2], v_dim_}), q);
      std::optional<OutputArray> sums;
      if (both || !log_sum_exp.is_none()) {
        sums.emplace(Argument{log_sum_exp, kCall, "log_sum_exp"}, DType::float32,
                     axes.without_lead({shape[0], shape[1], shape[2]}), q);
      }
      const auto attend_to = [&]<class Q>(Q) {
        lock_.read([&] {
          cache_of<T>().attend(
              queries.view<Q>(), axes.inside(result.view<Q>()), call.options,
              sums ? HeadAxes::with_lead(sums->template view<float>(), 3) : View<float>());
        });
      };
      wide ? attend_to(float()) : attend_to(T());
      call.raise();
      return finished(std::move(result), std::move(sums), both);
    });
  }

  void rewind(nb::handle length, nb::handle sequence) {
    const std::int64_t rows = Argument{length, "KvCache.rewind", "length"}.integer();
    if (sequence.is_none()) return change([&](auto& cache) { cache.rewind(rows); });
    const std::int64_t one = Argument{sequence, "KvCache.rewind", "sequence"}.integer();
    change([&](auto& cache) { cache.rewind(one, rows); });
  }

  PyKvCache fork() const {
    return PyKvCache(read([](const auto& cache) { return Any(cache.fork()); }), v_dim_);
  }

  // Returns a copy of the stored data, [batch, kv_heads, longest, ...], because the memory may
  // move.
  nb::object stored(bool of_keys) const {
    return with_element([&](auto type) {
      using T = typename decltype(type)::type;
      return to_python(lock_.read(
          [&] { return copy_of(of_keys ? cache_of<T>().keys() : cache_of<T>().values()); }));
    });
  }

 private:
  PyKvCache(Any cache, std::int64_t v_dim) : cache_(std::move(cache)), v_dim_(v_dim) {}

  static Any make(const Argument& batch, const Argument& kv_heads, const Argument& head_dim,
                  const Argument& v_dim, const Argument& capacity, const Argument& dtype) {
    return with_float(dtype.dtype(), [&](auto type) -> Any {
      using T = typename decltype(type)::type;
      if constexpr (std::is_same_v<T, double>) {
        throw Error(dtype.where(), "must be float32, bfloat16 or float16, got float64");
      } else {
        const std::int64_t width = head_dim.integer_in(kCacheSizes);
        return KvCache<T>(batch.integer_in(kCacheSizes), kv_heads.integer_in(kCacheSizes), width,
                          v_dim.is_none() ? width : v_dim.integer_in(kCacheSizes),
                          capacity.integer_in(kCacheSizes));
      }
    });
  }

  ObjectLock lock_{kCacheName};
  Any cache_;
  std::int64_t v_dim_ =
      std::visit([](const auto& cache) { return cache.v_dim(); }, cache_);  // for ever
};

// A property of whichever cache it is.
template <auto Get>
auto property() {
  return
      [](const PyKvCache& self) { return self.read([](const auto& cache) { return Get(cache); }); };
}

}  // namespace

void bind_kv_cache(nb::module_& module) {
  nb::class_<PyKvCache>(module, "KvCache")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle>(),
           nb::arg("batch").none(), nb::arg("kv_heads").none(), nb::arg("head_dim").none(),
           nb::arg("v_dim").none(), nb::arg("capacity").none(), nb::arg("dtype").none())
      .def("append", &PyKvCache::append, nb::arg("k").none(), nb::arg("v").none(),
           nb::arg("counts").none(), nb::arg("layout").none() = "bhld")
      .def("attend", &PyKvCache::attend, nb::arg("q").none(), nb::arg("out").none(),
           nb::arg("log_sum_exp").none(), nb::arg("options"), nb::arg("return_log_sum_exp").none(),
           nb::sig("def attend(self, q: object, out: object, log_sum_exp: object, options: "
                   "dict[str, typing.Any], return_log_sum_exp: object) -> typing.Any"))
      .def(
          "reserve",
          [](PyKvCache& self, nb::handle capacity) {
            const auto rows =
                Argument{capacity, "KvCache.reserve", "capacity"}.integer_in(kCacheSizes);
            self.change([&](auto& cache) { cache.reserve(rows); });
          },
          nb::arg("capacity").none())
      .def("rewind", &PyKvCache::rewind, nb::arg("length").none(), nb::arg("sequence").none())
      .def("clear", [](PyKvCache& self) { self.change([](auto& cache) { cache.clear(); }); })
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
