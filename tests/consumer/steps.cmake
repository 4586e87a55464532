# What the ways in have in common: run a command or stop with what it said; build and run a user's project.
# Given with -D: ROOT (our sources), BUILD (our build folder), COMPILER, CACHED (whether a compiler cache is used), and
# the TYPE, FLAGS and ONE_TARGET of our build.
cmake_minimum_required(VERSION 3.25)
set(work ${BUILD}/tests/consumer)
set(projects ${CMAKE_CURRENT_LIST_DIR}/project)
set(common -G Ninja -DCMAKE_CXX_COMPILER=${COMPILER})
# A compiler cache finds our objects again under the same flags, from a folder beside ours (paths on command lines are
# relative); without one, one instruction set has to do.
if(CACHED)
  set(library -DCMAKE_BUILD_TYPE=${TYPE} "-DCMAKE_CXX_FLAGS=${FLAGS}" -DSEXTANT_ONE_TARGET=${ONE_TARGET})
else()
  set(library -DCMAKE_BUILD_TYPE=Release -DSEXTANT_ONE_TARGET=ON)
endif()

# Sets `said` in the caller's scope.
function(step)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  if(NOT status EQUAL 0)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\n${text}")
  endif()
  set(said "${text}" PARENT_SCOPE)
endfunction()

# The command must fail and say `words`.
function(step_fails words)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE text ERROR_VARIABLE text)
  string(REGEX REPLACE "[ \n]+" " " text "${text}")
  string(FIND "${text}" "${words}" place)
  if(status EQUAL 0 OR place EQUAL -1)
    string(JOIN " " command ${ARGN})
    message(FATAL_ERROR "${command}\nends with ${status} and does not say: ${words}\n${text}")
  endif()
endfunction()

# Builds `project` with options in the folder ${BUILD}-NAME, and runs it.
function(use project name)
  file(REMOVE_RECURSE ${BUILD}-${name})
  step(${CMAKE_COMMAND} -S ${projects}/${project} -B ${BUILD}-${name} ${common} ${library} ${ARGN})
  step(${CMAKE_COMMAND} --build ${BUILD}-${name})
  step(${BUILD}-${name}/consumer)
endfunction()

# Configures, builds and installs the components up to attention, from ${BUILD}-NAME into ${work}/NAME.
function(install_components name)
  step(${CMAKE_COMMAND} -S ${ROOT} -B ${BUILD}-${name} ${common} ${library} -DSEXTANT_TEXT=OFF -DSEXTANT_PICTURES=OFF
       -DSEXTANT_DEVELOP=OFF -DCMAKE_DISABLE_FIND_PACKAGE_ICU=ON -DCMAKE_DISABLE_FIND_PACKAGE_ZLIB=ON
       -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON -DCMAKE_INSTALL_LIBDIR=lib ${ARGN})
  step(${CMAKE_COMMAND} --build ${BUILD}-${name})
  file(REMOVE_RECURSE ${work}/${name})
  step(${CMAKE_COMMAND} --install ${BUILD}-${name} --prefix ${work}/${name})
endfunction()
