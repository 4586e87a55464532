# Without the libraries of text and without pictures: what is left builds and installs where none of these libraries is, and
# says what it lacks.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
install_components(components)
use(attention components-user -DCMAKE_PREFIX_PATH=${work}/components)
step_fails("was built without 'pictures' (option SEXTANT_PICTURES); it has core, kernels, tables, schemes, attention, text, interop, identify"
  ${CMAKE_COMMAND} -S ${projects}/attention -B ${BUILD}-components-user -DCOMPONENTS=pictures)
if(EXISTS ${work}/components/include/sextant/pictures.h)
  message(FATAL_ERROR "headers of pictures were installed")
endif()
file(WRITE ${work}/all_headers.cc "#include <sextant/sextant.h>\nint main() {}\n")
step(${COMPILER} -std=c++20 -fsyntax-only -I${work}/components/include ${work}/all_headers.cc)
