// onnx_conformance DIR: runs ONNX's operator cases in a folder, one folder per case.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "onnx/program.h"

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    return sextant::onnx::run_program(arguments, std::cout, std::cerr);
  } catch (const std::exception& error) {
    std::cerr << "onnx_conformance: " << error.what() << '\n';
    return 1;
  }
}
