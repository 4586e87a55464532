# Each smaller selection of components can be configured in each build type: components.cmake builds one, and takes minutes.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
foreach(type Release Debug "")
  foreach(options -DSEXTANT_TEXT=OFF -DSEXTANT_PICTURES=OFF -DSEXTANT_PNG=OFF "-DSEXTANT_TEXT=OFF;-DSEXTANT_PICTURES=OFF;-DBUILD_SHARED_LIBS=ON")
    step(${CMAKE_COMMAND} --fresh -S ${ROOT} -B ${work}/options ${common} -DCMAKE_BUILD_TYPE=${type} -DSEXTANT_DEVELOP=OFF -DSEXTANT_APP=OFF ${options})
  endforeach()
endforeach()
