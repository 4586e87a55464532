// The Error that a call throws, for tests that read its message or where it is.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"

namespace sextant {

// "no error" where the call throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

template <class Call>
void expect_error(const std::string& where, const Call& call) {
  try {
    call();
    ADD_FAILURE() << "no error, expected [" << where << "]";
  } catch (const Error& error) {
    EXPECT_EQ(error.where(), where) << error.what();
  }
}

}  // namespace sextant
