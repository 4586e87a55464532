// The message of the Error that a call throws, for tests that read it.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "sextant/core/error.h"

namespace sextant {

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  ADD_FAILURE() << "no sextant::Error was thrown";
  return "";
}

}  // namespace sextant
