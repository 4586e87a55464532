# sextant_floor(NAME BELOW floors... PRIVATE targets... BUILD_ONLY targets... MODULES modules... LIBS flags...): the library of
# src/NAME, as the target sextant::NAME. A floor above one that is not built is not built either. BUILD_ONLY targets leave
# nothing to link (header-only libraries). MODULES and LIBS say in pkg-config's words what PRIVATE links.

function(sextant_floor name)
  cmake_parse_arguments(arg "" "" "BELOW;PRIVATE;BUILD_ONLY;MODULES;LIBS" ${ARGN})
  foreach(below ${arg_BELOW})
    if(NOT TARGET sextant_${below})
      return()
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${name}/*.cc)
  add_library(sextant_${name} ${sources})
  add_library(sextant::${name} ALIAS sextant_${name})
  set_property(GLOBAL APPEND PROPERTY SEXTANT_FLOORS ${name})
  # Until 1.0 a minor version may change the interface, so a program asks the loader for that version.
  set_target_properties(sextant_${name} PROPERTIES EXPORT_NAME ${name} VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} DEFINE_SYMBOL "")
  if(BUILD_SHARED_LIBS)
    set_target_properties(sextant_${name} PROPERTIES INSTALL_RPATH $ORIGIN)
  endif()
  target_include_directories(sextant_${name}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}> PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(sextant_${name} PUBLIC cxx_std_20)
  list(TRANSFORM arg_BELOW PREPEND sextant_ OUTPUT_VARIABLE below)
  target_link_libraries(sextant_${name} PUBLIC ${below} PRIVATE ${arg_PRIVATE})
  foreach(target sextant_flags ${arg_BUILD_ONLY})
    target_link_libraries(sextant_${name} PRIVATE $<BUILD_INTERFACE:${target}>)
  endforeach()
  if(NOT name MATCHES "^(core|pictures)$")  # OpenMP and librsvg have flags that change what the compiler defines
    target_precompile_headers(sextant_${name} REUSE_FROM sextant_precompiled)
  endif()
  list(FILTER arg_PRIVATE INCLUDE REGEX "^sextant_")
  list(TRANSFORM arg_PRIVATE REPLACE "^sextant_" "sextant-")
  list(TRANSFORM arg_BELOW PREPEND sextant- OUTPUT_VARIABLE below)
  sextant_pc_file(sextant-${name} PART ", ${name}" BELOW ${below} LIBRARY -lsextant_${name}
    MODULES ${arg_PRIVATE} ${arg_MODULES} LIBS ${arg_LIBS})
endfunction()

# NAME.pc for pkg-config. A static library needs what it was built with at every link, a shared one brings it along.
function(sextant_pc_file pc_name)
  cmake_parse_arguments(arg "" "PART;LIBRARY" "BELOW;MODULES;LIBS" ${ARGN})
  set(pc_part "${arg_PART}")
  if(BUILD_SHARED_LIBS)
    string(JOIN ", " pc_requires ${arg_BELOW})
    string(JOIN ", " pc_requires_private ${arg_MODULES})
    set(pc_libs ${arg_LIBRARY})
    string(JOIN " " pc_libs_private ${arg_LIBS})
  else()
    string(JOIN ", " pc_requires ${arg_BELOW} ${arg_MODULES})
    string(JOIN " " pc_libs ${arg_LIBRARY} ${arg_LIBS})
  endif()
  file(RELATIVE_PATH SEXTANT_PC_INCLUDE ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_FULL_INCLUDEDIR})
  configure_file(${PROJECT_SOURCE_DIR}/packaging/sextant.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${pc_name}.pc @ONLY)
endfunction()
