// Arrays for `sextant attention`: made here, written to files, read back.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/run_program.h"
#include "sextant/core/npy.h"

namespace sextant::app_tests {

template <class T>
Tensor<T> filled(const Shape& shape, const std::vector<double>& values) {
  Tensor<T> tensor(shape);
  for (std::int64_t i = 0; i < tensor.count(); ++i) {
    tensor.data()[i] = static_cast<T>(values.at(static_cast<std::size_t>(i)));
  }
  return tensor;
}

// Numbers that every float type holds exactly: multiples of 1/16 in -2 .. 2.
template <class T>
Tensor<T> random_tensor(const Shape& shape, unsigned seed) {
  std::mt19937 random(seed);
  Tensor<T> tensor(shape);
  for (T& value : tensor.span()) {
    value = static_cast<T>((static_cast<double>(random() % 65) - 32) / 16);
  }
  return tensor;
}

template <class T>
std::vector<double> numbers(View<const T> values) {
  const Tensor<T> rows = copy_of(values);
  std::vector<double> list;
  for (const T value : rows.span()) list.push_back(static_cast<double>(value));
  return list;
}
template <class T>
std::vector<double> numbers(const Tensor<T>& values) {
  return numbers<T>(values.view());
}

// A file that holds T (raw uint16 for bfloat16), as numbers.
template <class T>
std::vector<double> read_numbers(const std::string& path) {
  Array array = load_npy(path);
  if (std::is_same_v<T, bfloat16> && array.dtype == DType::uint16) array.dtype = DType::bfloat16;
  EXPECT_EQ(array.dtype, dtype_of<T>) << path;
  return numbers(array.to<T>());
}

// A folder with q, k and v, and the command that reads them.
class AttentionFiles : public ::testing::Test {
 protected:
  std::string file(const std::string& name) const { return folder_ / (name + ".npy"); }
  bool exists(const std::string& name) const { return std::filesystem::exists(file(name)); }

  template <class T>
  void save(const std::string& name, const Shape& shape, const std::vector<double>& values) const {
    save_npy(file(name), filled<T>(shape, values));
  }

  // "@x" in `options` stands for the path of x.npy in the folder.
  Outcome run(const std::string& options) const {
    return sextant(expanded("attention --q @q --k @k --v @v " + options));
  }
  std::string expanded(const std::string& text) const {
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '@') {
        out += text[i];
        continue;
      }
      const auto end = std::min(
          text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789", i + 1), text.size());
      out += file(text.substr(i + 1, end - i - 1));
      i = end - 1;
    }
    return out;
  }

  // The result of a run that has to succeed, silently.
  template <class T = double>
  std::vector<double> result(const std::string& options) const {
    const Outcome outcome = run("-o @out " + options);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    return outcome.code == 0 ? read_numbers<T>(file("out")) : std::vector<double>();
  }

  // float64 q and k of `length` zeros of one channel, and v = 1, 2, 4, ...: every row is a mean of
  // what it sees.
  void save_means(std::int64_t q_len, std::int64_t k_len) const {
    save<double>("q", {1, 1, q_len, 1}, std::vector<double>(static_cast<std::size_t>(q_len)));
    save<double>("k", {1, 1, k_len, 1}, std::vector<double>(static_cast<std::size_t>(k_len)));
    std::vector<double> powers;
    for (int i = 0; i < k_len; ++i) powers.push_back(std::ldexp(1, i));
    save<double>("v", {1, 1, k_len, 1}, powers);
  }

  const Folder folder_;
};

}  // namespace sextant::app_tests
