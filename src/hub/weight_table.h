// Which tensors of a file become which parameters of a model, in both directions: checked against
// the file first, then read into their places; or made of the parameters for a new file.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sextant/core/tensor_file.h"
#include "sextant/layers/parameters.h"
#include "sextant/models/transformer_config.h"

namespace sextant::hub {

// How the names of a model type are written in files.
struct NameRules {
  std::string_view prefix;  // "transformer.", which names may have or not
  // Known tensors that are not read: ends of names, or, with a point last, beginnings.
  std::span<const std::string_view> skipped;
};

enum class Stored { rows, columns };  // layout of a matrix [out, in]: the same, or [in, out]

// The parts of a norm in a file; missing ones are the gain 1 and the bias 0.
enum class NormParts {
  nothing,
  gain,
  gain_less_one,  // Gemma: x (1 + weight)
  gain_and_bias,
};

// Rows [first, first + count) of the stored tensor.
struct StoredRows {
  std::int64_t first, count;
};

// Rows [count, width] through a map of the file, split into heads: a table [heads, count, width /
// heads]. `norm`: of the rows first, a layer norm; empty: none.
struct ProjectedRows {
  std::string rows;
  std::int64_t count = 0;
  std::string norm;
  double epsilon = 0;
  std::string map;
  std::int64_t width = 0, heads = 1;
};

class WeightTable {
 public:
  // Borrows both. Throws Error for a name that is there with the prefix and without.
  WeightTable(const TensorFile& file, const NameRules& rules);
  // A table for a file to be written: it has each requested tensor once.
  explicit WeightTable(const NameRules& rules) : rules_(rules) {}

  // From here on names begin with these, in the model and in the file.
  void enter(std::string ours, std::string theirs);

  // Each throws Error naming the tensor unless the file has it, in this shape, as floating-point
  // numbers.
  void matrix(std::string_view ours, std::string_view theirs, std::int64_t rows,
              std::int64_t columns, Stored stored = Stored::rows);
  // Adds the first row of a matrix, times a factor, to each row of the last one.
  void add_first_row(std::string_view theirs, std::int64_t rows, std::int64_t columns,
                     float factor = 1);
  // Computes a parameter.
  void project(std::string_view ours, const ProjectedRows& of);
  // All of a parameter that files do not have.
  void constant(std::string_view ours, std::int64_t count, double value);
  // Takes of a matrix or a vector these rows alone, in this order.
  void take_rows(std::string_view ours, std::string_view theirs, const Shape& shape,
                 std::vector<StoredRows> rows);
  void norm(std::string_view ours, std::string_view theirs, std::int64_t width, NormKind kind,
            NormParts parts);
  // One map [rows, columns] from several in the file, whose rows follow one another.
  struct Map {
    std::string_view name;
    std::int64_t rows;
  };
  void linear(std::string_view ours, std::initializer_list<Map> theirs, std::int64_t columns,
              bool bias, Stored stored = Stored::rows);
  // Multiplies weight and bias of a map, or their first rows alone.
  void scale_linear(std::string_view ours, double factor);
  void scale_rows(std::string_view ours, std::int64_t rows, double factor);
  // The matrix of the logits, if the model has them (a tied one may be missing, but must equal the
  // embedding), and `bias`.
  void head(std::string_view theirs, std::string_view embedding, const TransformerConfig& config,
            std::string_view bias = "");
  bool has(std::string_view theirs) const;
  // If the file has `theirs` too, it must equal `original`.
  void copy(std::string_view theirs, std::string_view original, const Shape& shape);

  // Throws Error for a tensor that is neither read nor known to be skipped.
  void check_rest() const;
  // Sets all of them. Throws Error for numbers that are not finite.
  void read_into(const Parameters<float>& parameters) const;
  // The tensors that become these parameters when they are read, by their names: those of a head
  // have no prefix, and none has it where there is no head. Rows that nothing is read from are 0.
  // Throws Error(where, ...) for a parameter that has no place, or has to have another value.
  std::map<std::string, Tensor<float>> written(const Parameters<const float>& parameters,
                                               bool has_head, const std::string& where) const;

 private:
  struct Part {
    const StoredTensor* tensor;  // null: `count` numbers that are `added`
    Stored stored = Stored::rows;
    std::vector<StoredRows> rows{};  // empty: all
    double factor = 1, added = 0;    // x becomes factor x + added
    std::int64_t count = 0;          // of numbers
    // Computes the numbers, instead of the fields above.
    std::function<void(std::span<float>)> make{};
  };
  struct Source {
    std::vector<Part> parts;
    const StoredTensor* first_row = nullptr;  // is added to each row, times first_row_factor
    float first_row_factor = 1;
    std::int64_t scaled_rows = 0;  // how many are multiplied by `factor`
    double factor = 1;
  };

  void put(std::string_view ours, Part part);
  const StoredTensor* find(std::string_view theirs) const;
  const StoredTensor& take(std::string_view theirs, const Shape& shape);
  Source& add(std::string_view ours);
  void check_equal(const StoredTensor& a, const StoredTensor& b) const;
  template <class T>
  void read_source(const Source& source, std::int64_t columns, std::span<T> to) const;
  static void finish(const Source& source, std::int64_t columns, std::span<const float> row,
                     std::int64_t place, std::span<float> numbers);
  template <class T>
  void check_finite(const StoredTensor& from, std::span<const T> numbers) const;
  void read(const Part& part, std::int64_t first, std::span<float> to) const;
  void read_rows(const Part& part, std::int64_t first, std::span<float> to) const;
  void read_columns(const StoredTensor& from, std::span<float> to) const;
  [[noreturn]] void fail(const StoredTensor& tensor, const std::string& what) const;
  static void write(const Part& part, std::span<const float> from, std::span<float> to);

  const TensorFile* file_ = nullptr;  // null: of a file that is to be written
  const NameRules& rules_;
  std::deque<StoredTensor> planned_;                                 // of that file
  std::map<std::string, const StoredTensor*, std::less<>> tensors_;  // names without the prefix
  std::set<const StoredTensor*> used_;
  std::map<std::string, Source, std::less<>> sources_;  // by parameter
  Source* last_ = nullptr;
  std::string ours_, theirs_;
};

}  // namespace sextant::hub
