# Installs this build into a fresh folder, for the tests that use it. Only folders that a prefix has come into being: the Python
# module is installed by pip alone.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${work}/prefix)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
file(GLOB folders RELATIVE ${work}/prefix ${work}/prefix/*)
list(REMOVE_ITEM folders bin include lib lib64 share)
if(folders)
  message(FATAL_ERROR "cmake --install left in the prefix: ${folders}")
endif()
