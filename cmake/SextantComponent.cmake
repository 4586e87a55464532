# sextant_component(NAME BELOW components... LEAVE_OUT folder ALONE files PRIVATE targets... BUILD_ONLY targets... MODULES modules...
# LIBS flags...): the library of src/NAME without a folder, as the target sextant::NAME. A component above one that is not built is not
# built either. Files that match the regular expression ALONE are not compiled together with others. BUILD_ONLY targets leave nothing to
# link (header-only libraries). MODULES and LIBS say in pkg-config's words what PRIVATE links.

function(sextant_component name)
  cmake_parse_arguments(arg "" "LEAVE_OUT;ALONE" "BELOW;PRIVATE;BUILD_ONLY;MODULES;LIBS" ${ARGN})
  foreach(below ${arg_BELOW})
    if(NOT TARGET sextant_${below})
      return()
    endif()
  endforeach()
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${name}/*.cc)
  if(arg_LEAVE_OUT)
    list(FILTER sources EXCLUDE REGEX "/${name}/${arg_LEAVE_OUT}/")
  endif()
  add_library(sextant_${name} ${sources})
  sextant_compile_together(sextant_${name} 8)
  if(arg_ALONE)
    list(FILTER sources INCLUDE REGEX "/${name}/${arg_ALONE}")
    set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
  add_library(sextant::${name} ALIAS sextant_${name})
  set_property(GLOBAL APPEND PROPERTY SEXTANT_COMPONENTS ${name})
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
  if(NOT name MATCHES "^(pictures|ranks)$")  # librsvg and MPI have flags that change what the compiler defines
    target_precompile_headers(sextant_${name} REUSE_FROM sextant_precompiled)
  endif()
  list(FILTER arg_PRIVATE INCLUDE REGEX "^sextant_")
  set(reach ${name})  # the components whose headers it can include
  foreach(below ${below} ${arg_PRIVATE})
    get_target_property(further ${below} SEXTANT_REACH)
    list(APPEND reach ${further})
  endforeach()
  list(REMOVE_DUPLICATES reach)
  set_target_properties(sextant_${name} PROPERTIES SEXTANT_REACH "${reach}")
  list(TRANSFORM arg_PRIVATE REPLACE "^sextant_" "sextant-")
  list(TRANSFORM arg_BELOW PREPEND sextant- OUTPUT_VARIABLE below)
  sextant_pc_file(sextant-${name} PART ", ${name}" BELOW ${below} LIBRARY -lsextant_${name}
    MODULES ${arg_PRIVATE} ${arg_MODULES} LIBS ${arg_LIBS})
endfunction()

# Compiles `count` source files of a target as one (SEXTANT_UNITY): what they include is read once for all of them. The names in their
# anonymous namespaces differ for that.
function(sextant_compile_together target count)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${SEXTANT_UNITY} UNITY_BUILD_BATCH_SIZE ${count})
endfunction()

# A header of a component that does not lie below is a file with an #error: each component finds those before the headers themselves. The
# optional component is forbidden where it is not built too: the flags are the same with and without it, so ccache shares the objects.
function(sextant_forbid_upward_includes)
  get_property(components GLOBAL PROPERTY SEXTANT_COMPONENTS)
  set(named ${components} ranks)
  list(REMOVE_DUPLICATES named)
  foreach(component ${named})
    set(forbidden ${PROJECT_BINARY_DIR}/forbidden/${component})
    foreach(root include/sextant src)
      file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${root} ${PROJECT_SOURCE_DIR}/${root}/${component}/*.h)
      string(REGEX REPLACE "^include/|^src$" "" prefix ${root})
      foreach(header ${headers} ${component}.h)
        file(CONFIGURE OUTPUT ${forbidden}/${prefix}/${header}
          CONTENT "#error \"${header}: '${component}' does not lie below this component (ARCHITECTURE.md)\"\n")
      endforeach()
    endforeach()
    foreach(above ${components})
      get_target_property(reach sextant_${above} SEXTANT_REACH)
      if(NOT component IN_LIST reach)
        target_include_directories(sextant_${above} BEFORE PRIVATE ${forbidden})
      endif()
    endforeach()
  endforeach()
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
