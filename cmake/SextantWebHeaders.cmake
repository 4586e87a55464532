# For WebAssembly: headers are all that Highway, nlohmann's JSON and CLI11 need there. They lie in the system's include folder, whose
# other headers are not Emscripten's, so these alone are linked into a folder of the build.
set(headers ${PROJECT_BINARY_DIR}/headers)
foreach(library hwy/highway.h nlohmann/json.hpp CLI/CLI.hpp)
  find_path(SEXTANT_${library}_ROOT ${library} PATHS /usr/local/include /usr/include NO_DEFAULT_PATH NO_CMAKE_FIND_ROOT_PATH REQUIRED)
  get_filename_component(folder ${library} DIRECTORY)
  file(MAKE_DIRECTORY ${headers})
  file(CREATE_LINK ${SEXTANT_${library}_ROOT}/${folder} ${headers}/${folder} SYMBOLIC)
endforeach()
foreach(target hwy::hwy nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${target} SYSTEM INTERFACE ${headers})
endforeach()
