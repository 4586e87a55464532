# `cmake --install`: headers, libraries, a package for find_package(sextant COMPONENTS ...), files for pkg-config, and the
# command line with its page of the manual. Components of the installation: library (what a program needs to run, when the
# libraries are shared), development, program.
include(CMakePackageConfigHelpers)
get_property(SEXTANT_COMPONENTS GLOBAL PROPERTY SEXTANT_COMPONENTS)
list(TRANSFORM SEXTANT_COMPONENTS PREPEND sextant_ OUTPUT_VARIABLE targets)
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/sextant)

install(TARGETS sextant ${targets} EXPORT sextantTargets
  ARCHIVE COMPONENT development
  LIBRARY COMPONENT library NAMELINK_COMPONENT development)
install(EXPORT sextantTargets NAMESPACE sextant:: DESTINATION ${package} COMPONENT development)
configure_file(cmake/sextantConfig.cmake.in sextantConfig.cmake @ONLY)
write_basic_package_version_file(sextantConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/sextantConfig.cmake ${PROJECT_BINARY_DIR}/sextantConfigVersion.cmake
  DESTINATION ${package} COMPONENT development)
install(DIRECTORY ${PROJECT_BINARY_DIR}/pkgconfig DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)

# The headers of the components that were built, and of each header over them.
install(FILES include/sextant/sextant.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant COMPONENT development)
foreach(component ${SEXTANT_COMPONENTS})
  install(FILES include/sextant/${component}.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant COMPONENT development)
  if(IS_DIRECTORY ${PROJECT_SOURCE_DIR}/include/sextant/${component})
    install(DIRECTORY include/sextant/${component} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/sextant COMPONENT development
      FILES_MATCHING PATTERN "*.h")
  endif()
endforeach()

# `cpack -G DEB` (make packages): one package with the program, one with what is needed to build with the libraries.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/../packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "The Sextant authors")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL development)
if(SEXTANT_APP)
  list(APPEND CPACK_COMPONENTS_ALL program)
endif()
if(BUILD_SHARED_LIBS)
  list(APPEND CPACK_COMPONENTS_ALL library)
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME sextant)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION science)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "${PROJECT_DESCRIPTION}: the command line")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libsextant-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libhwy-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libicu-dev, libsentencepiece-dev, libfasttext-dev, zlib1g-dev, librsvg2-dev, libfontconfig-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "${PROJECT_DESCRIPTION}: headers and libraries")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libsextant${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "${PROJECT_DESCRIPTION}: shared libraries")
include(CPack)
