# add_subdirectory: only the libraries come along, and installing the user's project installs nothing of ours.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
use(folder folder-user -DSEXTANT=${ROOT})
step(${CMAKE_COMMAND} --install ${BUILD}-folder-user --prefix ${BUILD}-folder-user/prefix)
file(GLOB_RECURSE installed RELATIVE ${BUILD}-folder-user/prefix ${BUILD}-folder-user/prefix/*)
if(NOT installed STREQUAL "bin/consumer")
  message(FATAL_ERROR "installed: ${installed}")
endif()
