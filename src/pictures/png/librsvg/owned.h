// Objects of C libraries, with g_object_unref, cairo_destroy ... as deleters.
#pragma once

#include <memory>

namespace sextant::pictures {

template <auto Release>
struct With {
  template <class T>
  void operator()(T* object) const {
    Release(object);
  }
};
template <class T, auto Release>
using Owned = std::unique_ptr<T, With<Release>>;

}  // namespace sextant::pictures
