# find_package(sextant): everything; one component, for which nothing else is looked for; a component that is not there.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
use(whole find_package -DCMAKE_PREFIX_PATH=${work}/prefix)
set(alone -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
    -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON)
use(attention find_component ${alone} -DCOMPONENTS=layers)  # layers of a model need no library of text
step_fails("sextant's 'pictures' needs packages that were not found: ZLIB, librsvg-2.0, fontconfig"
  ${CMAKE_COMMAND} -S ${projects}/attention -B ${BUILD}-find_component -DCOMPONENTS=pictures)
if(NOT EXISTS ${work}/prefix/include/sextant/ranks.h)
  step_fails("was built without 'mpi' (option SEXTANT_MPI); it has core, kernels"
    ${CMAKE_COMMAND} -S ${projects}/attention -B ${BUILD}-find_component -DCOMPONENTS=mpi)
endif()
step_fails("sextant has no component 'atention'; this installation has core, kernels, tables, schemes"
  ${CMAKE_COMMAND} -S ${projects}/attention -B ${BUILD}-find_component -DCOMPONENTS=atention)
