# scripts/setup.sh with an apt that is not there: it installs g++ alone where all else is there, a library for two architectures too;
# it waits for apt's lock and says so, and shows any other complaint at once.
# Given with -D: ROOT (our sources), WORK (a folder).
function(write_program name text)
  file(WRITE ${WORK}/bin/${name} "#!/bin/sh\n${text}")
  file(CHMOD ${WORK}/bin/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endfunction()

# Runs setup.sh with apt-get as `apt`; sets `status` and `said`.
function(run apt)
  file(REMOVE_RECURSE ${WORK})
  write_program(apt-get "${apt}")
  write_program(dpkg "echo amd64\n")
  write_program(dpkg-query "case $4 in g++*) exit 1;; libpng-dev) printf installed;; esac; printf installed\n")
  write_program(id "echo 0\n")
  execute_process(COMMAND ${CMAKE_COMMAND} -E env "PATH=${WORK}/bin:$ENV{PATH}" ${ROOT}/scripts/setup.sh build
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text TIMEOUT 60)
  set(status "${result}" PARENT_SCOPE)
  set(said "${text}" PARENT_SCOPE)
endfunction()

function(expect words)
  string(FIND "${said}" "${words}" place)
  if(place EQUAL -1)
    message(FATAL_ERROR "setup.sh ends with ${status} and does not say '${words}':\n${said}")
  endif()
endfunction()

# The lock is free the second time; then the packages are asked for by name.
run("echo \"$@\" >> ${WORK}/asked\n[ -e ${WORK}/free ] && exit 0\n: > ${WORK}/free\n\
echo 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 7 (apt-get)' >&2\nexit 100\n")
expect("waiting for it, at most 10 minutes: /var/lib/apt/lists/lock. It is held by process 7")
expect("setup: done")
file(READ ${WORK}/asked asked)
if(NOT status EQUAL 0 OR NOT asked STREQUAL "-qq update\n-qq update\n-qq install -y --no-install-recommends g++\n")
  message(FATAL_ERROR "setup.sh ends with ${status}; apt-get was asked for\n${asked}")
endif()

run("echo 'E: Unable to locate package g++' >&2\nexit 100\n")
expect("E: Unable to locate package g++")
expect("install these packages and run this again: g++")
if(status EQUAL 0 OR said MATCHES "waiting")
  message(FATAL_ERROR "setup.sh ends with ${status}:\n${said}")
endif()
