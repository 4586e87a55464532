# Without text and pictures: what is left builds and installs where none of their libraries is, and says what it lacks.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
install_floors(floors)
use(attention floors-user -DCMAKE_PREFIX_PATH=${work}/floors)
step_fails("was built without 'text' (options SEXTANT_TEXT and SEXTANT_PICTURES); it has core, kernels, tables, schemes, attention, interop"
  ${CMAKE_COMMAND} -S ${projects}/attention -B ${BUILD}-floors-user -DFLOORS=text)
if(EXISTS ${work}/floors/include/sextant/text.h)
  message(FATAL_ERROR "headers of text were installed")
endif()
file(WRITE ${work}/all_headers.cc "#include <sextant/sextant.h>\nint main() {}\n")
step(${COMPILER} -std=c++20 -fsyntax-only -I${work}/floors/include ${work}/all_headers.cc)
