// Pictures that are kept. Run with SEXTANT_UPDATE_GOLDEN=1 to accept those of now, then look at
// each before committing.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "sextant/core/error.h"
#include "sextant/core/files.h"
#include "sextant/pictures/canvas.h"
#include "support/folders.h"

namespace sextant::testing {

// The compressed bytes of images belong to the version of zlib; pixels_test.cc decodes them.
inline std::string without_pixels(std::string svg) {
  const std::string begin = "base64,";
  for (std::size_t at = svg.find(begin); at != std::string::npos; at = svg.find(begin, at)) {
    at += begin.size();
    svg.replace(at, svg.find('"', at) - at, "pixels");
  }
  return svg;
}

// `name`: of the file in tests/, without ".svg".
inline void expect_golden(const std::string& name, const Picture& picture) {
  const std::string path = sextant::tests::data_folder() + "/" + name + ".svg";
  if (std::getenv("SEXTANT_UPDATE_GOLDEN") != nullptr) {
    // The file keeps its pixels so that it can be looked at.
    write_file(path, picture.svg);
    return;
  }
  std::string golden;
  ASSERT_NO_THROW(golden = read_file(path));
  EXPECT_TRUE(without_pixels(golden) == without_pixels(picture.svg))
      << path << " differs. To see how, run this test again with SEXTANT_UPDATE_GOLDEN=1 and look "
      << "at the difference with git; commit it if it is what you want.";
}

}  // namespace sextant::testing
