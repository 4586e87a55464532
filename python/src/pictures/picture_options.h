// The options of a picture, as Python gives them by name.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "arguments.h"
#include "sextant/core/error.h"
#include "sextant/core/numbers.h"

namespace sextant::python {

// A dict from names to values; None is as if it were not there.
class PictureOptions {
 public:
  PictureOptions(std::string_view call, nb::dict given) : call_(call), given_(std::move(given)) {}

  const std::string& call() const { return call_; }
  bool has(const char* name) const {
    asked_.insert(name);
    return given_.contains(name) && !nb::object(given_[name]).is_none();
  }
  // f(argument) of an option that is there.
  template <class F>
  auto get(const char* name, const F& f) const -> decltype(f(Argument())) {
    asked_.insert(name);
    const nb::object value = given_[name];
    return f(Argument{value, call_, name});
  }
  std::optional<std::int64_t> integer(const char* name, const IntegerRange& range) const {
    if (!has(name)) return {};
    return get(name, [&](const Argument& one) { return one.integer_in(range); });
  }
  std::vector<std::int64_t> integers(const char* name) const {
    return get(name, [](const Argument& one) { return one.integers(); });
  }
  // CSS pixels of the picture.
  std::optional<double> max_width() const {
    if (!has("max_width")) return {};
    const double width = get("max_width", [](const Argument& one) { return one.number(); });
    if (width >= 280) return width;
    throw Error(call_ + ".max_width", "must be 280 or more, got " + shortest(width));
  }
  std::string text(const char* name, std::string otherwise = "") const {
    if (!has(name)) return otherwise;
    return get(name, [](const Argument& one) { return one.text(); });
  }
  bool flag(const char* name) const {
    return has(name) && get(name, [](const Argument& one) { return one.flag(); });
  }
  // Throws Error for one of `names` that is there.
  void refuse(std::initializer_list<const char*> names, const std::string& why) const {
    for (const char* name : names) {
      if (has(name)) throw Error(call_ + "." + name, "must not be given with " + why);
    }
  }

  // Throws Error for an option that is there and was not asked for. 0 and False are as if absent.
  void refuse_unused() const {
    for (const auto& [name, value] : given_) {
      const std::string text = nb::cast<std::string>(name);
      const bool is_absent =
          value.is_none() || (nb::isinstance<nb::int_>(value) && !nb::bool_(value));
      if (is_absent || asked_.contains(text)) continue;
      throw Error(call_ + "." + text, "must not be given here, where it has no effect");
    }
  }

 private:
  std::string call_;
  nb::dict given_;
  mutable std::set<std::string, std::less<>> asked_;
};

// f(), where arguments of figures are those of the call: "[figure.length] ..." is
// "[heatmap.length] ...".
template <class F>
auto with_arguments_of(const std::string& call, const F& f) -> decltype(f()) {
  constexpr std::string_view kFigure = "figure.";
  try {
    return f();
  } catch (const Error& error) {
    if (!error.where().starts_with(kFigure)) throw;
    const std::string text = error.what();  // "[where] what"
    throw Error(call + "." + error.where().substr(kFigure.size()),
                text.substr(error.where().size() + 3));
  }
}

}  // namespace sextant::python
