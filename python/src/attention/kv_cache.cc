// The keys and values of the tokens so far.
#include <nanobind/stl/vector.h>

#include <optional>
#include <utility>
#include <variant>

#include "attention/call_options.h"
#include "bindings.h"
#include "interpreter_lock.h"
#include "object_lock.h"
#include "schemes/tables.h"
#include "sextant/attention/kv_cache.h"

namespace sextant::python {
namespace {

constexpr std::string_view kCacheName = "KvCache";
constexpr IntegerRange kCacheSizes{0, std::int64_t{1} << 40};

std::vector<std::int64_t> integers_or_none(const Argument& given) {
  return given.is_none() ? std::vector<std::int64_t>() : given.integers();
}
std::optional<std::int64_t> integer_or_none(const Argument& given) {
  if (given.is_none()) return {};
  return given.integer();
}

template <class T>
constexpr bool kIsInt8 = std::is_same_v<T, std::int8_t>;

// A cache of one of the four element types, which several threads may use at once.
class PyKvCache {
 public:
  using Any =
      std::variant<KvCache<float>, KvCache<float16>, KvCache<bfloat16>, KvCache<std::int8_t>>;

  PyKvCache(nb::handle batch, nb::handle kv_heads, nb::handle head_dim, nb::handle v_dim,
            nb::handle dtype, nb::handle page_size)
      : cache_(make({batch, kCacheName, "batch"}, {kv_heads, kCacheName, "kv_heads"},
                    {head_dim, kCacheName, "head_dim"}, {v_dim, kCacheName, "v_dim"},
                    {dtype, kCacheName, "dtype"}, {page_size, kCacheName, "page_size"})) {}

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
  DType dtype() const {
    return with_element([](auto type) { return dtype_of<typename decltype(type)::type>; });
  }
  template <class T>
  KvCache<T>& cache_of() {
    return std::get<KvCache<T>>(cache_);
  }
  template <class T>
  const KvCache<T>& cache_of() const {
    return std::get<KvCache<T>>(cache_);
  }

  void append(nb::handle k, nb::handle v, nb::handle counts, nb::handle segments,
              nb::handle layout) {
    InputArray keys({k, "KvCache.append", "k"}), values({v, "KvCache.append", "v"});
    const HeadAxes axes = axes_of(keys, layout);
    keys.as_heads(axes);
    values.as_heads(axes);
    const auto of_counts = integers_or_none({counts, "KvCache.append", "counts"});
    const auto of_segments = integers_or_none({segments, "KvCache.append", "segments"});
    const AppendedRows rows{of_counts, of_segments};
    with_element([&](auto type) {
      using T = typename decltype(type)::type;
      using Float = typename KvCache<T>::Float;
      using Wider = typename KvCache<T>::Wider;
      const auto put = [&](auto element) {
        using E = decltype(element);
        values.expect(dtype_of<E>, ", as k");
        lock_.change([&] { cache_of<T>().append(keys.view<E>(), values.view<E>(), rows); });
      };
      if (keys.dtype() == dtype_of<Wider>) return put(Wider());
      keys.expect(dtype_of<Float>, kIsInt8<T> ? ", for a cache of int8" : ", as the cache");
      put(Float());
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
      using Float = typename KvCache<T>::Float;
      const bool wide = queries.dtype() == DType::float32;
      if (!wide) {
        queries.expect(dtype_of<Float>,
                       kIsInt8<T> ? ", for a cache of int8" : ", as the cache, or float32");
      }
      const CallOptions<Float> call(kCall, options, CausalFlag{.is_cache = true});
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
      wide ? attend_to(float()) : attend_to(Float());
      call.raise();
      return finished(std::move(result), std::move(sums), both);
    });
  }

  void rewind(nb::handle length, nb::handle sequence) {
    const std::int64_t kept = Argument{length, "KvCache.rewind", "length"}.integer();
    const auto one = integer_or_none({sequence, "KvCache.rewind", "sequence"});
    change([&](auto& cache) { cache.rewind(kept, one); });
  }

  void drop(nb::handle begin, nb::handle end, nb::handle sequence) {
    const std::int64_t first = Argument{begin, "KvCache.drop", "begin"}.integer();
    const std::int64_t last = Argument{end, "KvCache.drop", "end"}.integer();
    const auto one = integer_or_none({sequence, "KvCache.drop", "sequence"});
    change([&](auto& cache) { cache.drop(first, last, one); });
  }

  void rotate(nb::handle table, nb::handle shift, nb::handle begin, nb::handle end,
              nb::handle sequence) {
    const Argument given{table, "KvCache.rotate", "table"};
    const auto* rotation = held<PyRotation>(table);
    if (rotation == nullptr) throw_type_error(given, "a RotationTable");
    const auto* of_floats = std::get_if<SharedRotation<float>>(&rotation->table);
    if (of_floats == nullptr) throw_type_error(given, "a RotationTable of dtype float32");
    const SharedRotation<float> rows = *of_floats;
    const std::int64_t by = Argument{shift, "KvCache.rotate", "shift"}.integer();
    const std::int64_t first = Argument{begin, "KvCache.rotate", "begin"}.integer();
    const auto last = integer_or_none({end, "KvCache.rotate", "end"});
    const auto one = integer_or_none({sequence, "KvCache.rotate", "sequence"});
    change([&](auto& cache) { cache.rotate(*rows, by, first, last.value_or(cache.kEnd), one); });
  }

  void select(nb::handle sequences) {
    const auto chosen = Argument{sequences, "KvCache.select", "sequences"}.integers();
    change([&](auto& cache) { cache.select(chosen); });
  }

  void join(const PyKvCache& other) {
    const PyKvCache added = other.fork();  // not both locks at once
    with_element([&](auto type) {
      using T = typename decltype(type)::type;
      const auto* same = std::get_if<KvCache<T>>(&added.cache_);
      if (same == nullptr) {
        throw Error("KvCache.join.other",
                    "must be of " + std::string(dtype_name(dtype_of<T>)) + ", as this cache");
      }
      lock_.change([&] { cache_of<T>().join(*same); });
    });
  }

  void save(nb::handle path) const {
    const std::string file = Argument{path, "KvCache.save", "path"}.path();
    const PyKvCache same = fork();  // without the lock while the file is written
    const Unlocked released;
    std::visit([&](const auto& cache) { cache.save(file); }, same.cache_);
  }

  static PyKvCache load(nb::handle path) {
    const std::string file = Argument{path, "KvCache.load", "path"}.path();
    const Unlocked released;
    Any cache = of_element(kv_cache_dtype(file), [&](auto type) -> Any {
      return KvCache<typename decltype(type)::type>::load(file);
    });
    const std::int64_t v_dim = std::visit([](const auto& of) { return of.sizes().v_dim; }, cache);
    return PyKvCache(std::move(cache), v_dim);
  }

  PyKvCache fork() const {
    return PyKvCache(read([](const auto& cache) { return Any(cache.fork()); }), v_dim_);
  }

  // Returns a copy of the stored data, [batch, kv_heads, longest, ...], because the memory may
  // move.
  nb::object stored(bool of_keys) const {
    return with_element([&](auto type) {
      using T = typename decltype(type)::type;
      return to_python(
          lock_.read([&] { return of_keys ? cache_of<T>().keys() : cache_of<T>().values(); }));
    });
  }

 private:
  PyKvCache(Any cache, std::int64_t v_dim) : cache_(std::move(cache)), v_dim_(v_dim) {}

  static Any make(const Argument& batch, const Argument& kv_heads, const Argument& head_dim,
                  const Argument& v_dim, const Argument& dtype, const Argument& page_size) {
    const DType element = dtype.dtype(DType::int8);
    if (element == DType::float64) {
      throw Error(dtype.where(), "must be float32, bfloat16, float16 or int8, got float64");
    }
    return of_element(element, [&](auto type) -> Any {
      const std::int64_t width = head_dim.integer_in(kCacheSizes);
      return KvCache<typename decltype(type)::type>(
          {batch.integer_in(kCacheSizes), kv_heads.integer_in(kCacheSizes), width,
           v_dim.is_none() ? width : v_dim.integer_in(kCacheSizes),
           page_size.integer_in(kCacheSizes)});
    });
  }

  // f(Type<the element>()) for the element type of a cache.
  template <class F>
  static Any of_element(DType element, const F& f) {
    if (element == DType::int8) return f(Type<std::int8_t>());
    if (element == DType::float16) return f(Type<float16>());
    if (element == DType::bfloat16) return f(Type<bfloat16>());
    return f(Type<float>());
  }

  ObjectLock lock_{kCacheName};
  Any cache_;
  std::int64_t v_dim_ =
      std::visit([](const auto& cache) { return cache.sizes().v_dim; }, cache_);  // for ever
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
           nb::arg("v_dim").none(), nb::arg("dtype").none(), nb::arg("page_size").none())
      .def("append", &PyKvCache::append, nb::arg("k").none(), nb::arg("v").none(),
           nb::arg("counts").none(), nb::arg("segments").none(), nb::arg("layout").none() = "bhld")
      .def("attend", &PyKvCache::attend, nb::arg("q").none(), nb::arg("out").none(),
           nb::arg("log_sum_exp").none(), nb::arg("options"), nb::arg("return_log_sum_exp").none(),
           nb::sig("def attend(self, q: object, out: object, log_sum_exp: object, options: "
                   "dict[str, typing.Any], return_log_sum_exp: object) -> typing.Any"))
      .def("rewind", &PyKvCache::rewind, nb::arg("length").none(), nb::arg("sequence").none())
      .def("drop", &PyKvCache::drop, nb::arg("begin").none(), nb::arg("end").none(),
           nb::arg("sequence").none())
      .def("rotate", &PyKvCache::rotate, nb::arg("table").none(), nb::arg("shift").none(),
           nb::arg("begin").none(), nb::arg("end").none(), nb::arg("sequence").none())
      .def("select", &PyKvCache::select, nb::arg("sequences").none())
      .def("join", &PyKvCache::join, nb::arg("other"))
      .def("save", &PyKvCache::save, nb::arg("path").none())
      .def_static("load", &PyKvCache::load, nb::arg("path").none())
      .def("clear", [](PyKvCache& self) { self.change([](auto& cache) { cache.clear(); }); })
      .def("fork", &PyKvCache::fork)
      .def("stored", &PyKvCache::stored, nb::arg("of_keys"),
           nb::sig("def stored(self, of_keys: bool) -> typing.Any"))
      .def_prop_ro("lengths", property<[](auto& cache) {
                     return std::vector<std::int64_t>(cache.lengths().begin(),
                                                      cache.lengths().end());
                   }>())
      .def_prop_ro("dtype",
                   [](const PyKvCache& self) { return std::string(dtype_name(self.dtype())); })
      .def_prop_ro("batch", property<[](auto& cache) { return cache.batch(); }>())
      .def_prop_ro("kv_heads", property<[](auto& cache) { return cache.sizes().kv_heads; }>())
      .def_prop_ro("head_dim", property<[](auto& cache) { return cache.sizes().head_dim; }>())
      .def_prop_ro("v_dim", property<[](auto& cache) { return cache.sizes().v_dim; }>())
      .def_prop_ro("page_size", property<[](auto& cache) { return cache.sizes().page_size; }>())
      .def_prop_ro("bytes", property<[](auto& cache) { return cache.bytes(); }>())
      .def_prop_ro("is_shared", property<[](auto& cache) { return cache.is_shared(); }>());
}

}  // namespace sextant::python
