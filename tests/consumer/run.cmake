# Installs BUILD into a fresh prefix, then configures, builds and runs SOURCE against it.
set(work ${BUILD}/tests/consumer)
file(REMOVE_RECURSE ${work})
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${text}")
  endif()
endfunction()
step(${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
step(${CMAKE_COMMAND} -S ${SOURCE} -B ${work}/build -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${work}/prefix
     -DCMAKE_CXX_COMPILER=${COMPILER})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer)
