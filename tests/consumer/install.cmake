# Installs this build into a fresh folder, for the tests that use it.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${work}/prefix)
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
