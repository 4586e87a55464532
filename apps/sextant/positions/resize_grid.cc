// `sextant resize-grid`: learned positions of a grid of patches for a grid of another size.
#include "sextant/schemes/added/resize_grid.h"

#include <memory>
#include <string>

#include "commands.h"
#include "core/arrays/converted.h"
#include "core/text/strings.h"
#include "options/arguments.h"
#include "options/file_arguments.h"
#include "options/options.h"
#include "sextant/core/error.h"
#include "sextant/core/npy.h"
#include "streams/console.h"

namespace sextant::app {
namespace {

struct Resize {
  std::string input, output;
  ResizeGrid options;
};

// "16x16", or "16" for a square.
GridSize parse_grid(const std::string& text, const std::string& where) {
  constexpr std::int64_t kMost = 1 << 20;
  const auto mark = text.find('x');
  const std::int64_t rows = parse_integer(text.substr(0, mark), where, 1, kMost);
  if (mark == text.npos) return {rows, rows};
  return {rows, parse_integer(text.substr(mark + 1), where, 1, kMost)};
}

void run(const Resize& resize) {
  const Array table = load_npy(resize.input);
  if (!is_float(table.dtype)) {
    throw Error(resize.input, "must hold floats, got " + std::string(dtype_name(table.dtype)));
  }
  const Tensor<double> numbers = table.to<double>();
  const Tensor<double> made = resize_grid(numbers, resize.options);
  if (table.dtype == DType::float64) {
    save_npy(resize.output, made);
  } else if (table.dtype == DType::float16) {
    save_npy(resize.output, converted<float16>(made));
  } else {
    save_npy(resize.output, converted<float>(made));
  }
  note(numbers.shape().to_string() + " to " + made.shape().to_string());
}

}  // namespace

void add_resize_grid(CLI::App& program, Job& job) {
  CLI::App& command = *program.add_subcommand(
      "resize-grid",
      "learned positions of patches for another size of image\n"
      "Resizes a table [prefix + rows * columns, width] of learned positions, whose patches come "
      "row "
      "by row, to a grid of another size, as vision models do for larger images.");
  auto resize = std::make_shared<Resize>();
  input_file(command.add_option("INPUT", resize->input, "the table, a .npy file"))->required();
  output_file(
      command.add_option("-o,--output", resize->output, "the result, .npy of the same type"))
      ->required();
  const auto add_size = [&](const std::string& name, GridSize& size, const std::string& meaning) {
    return command
        .add_option_function<std::string>(
            "--" + name,
            [&size, name](const std::string& text) {
              size = parse_grid(text, "resize-grid." + name);
            },
            meaning)
        ->type_name("RxC");
  };
  add_size("new-size", resize->options.new_size, "rows and columns of the result: 16x16, or 16")
      ->required();
  add_size("old-size", resize->options.old_size,
           "rows and columns of the table (default: a square)");
  add_integer(command, "--prefix", resize->options.prefix, 0, 1 << 20,
              "rows before the grid that are kept: of a class token, of registers (default 0)");
  const auto add_choice = [&](const std::string& name, auto& value, const std::string& meaning) {
    using Choice = std::remove_reference_t<decltype(value)>;
    command
        .add_option_function<std::string>(
            "--" + name,
            [&value, name](const std::string& text) {
              value = parse_name<Choice>(text, "resize-grid." + name);
            },
            joined(names_of<Choice>(), " | ") + meaning)
        ->type_name("NAME");
  };
  add_choice("method", resize->options.method, " (default bicubic)");
  add_choice("convention", resize->options.convention,
             ": library whose result is computed: F.interpolate() with its defaults, with "
             "antialias=True, with align_corners=True, or jax.image.resize() (default torch)");
  command.footer(
      "Examples:\n"
      "  sextant resize-grid positions.npy --new-size 24x24 --prefix 1 -o larger.npy");
  command.callback([resize, &job] { job = [resize] { run(*resize); }; });
}

}  // namespace sextant::app
