# sextant_embed(NAME folder): the files of src/folder as the header "folder_files.h", for the library of component NAME: an array of bytes each,
# kModelSafetensors for model.safetensors. So what ships is in the library, and an installed program needs no path to it.
function(sextant_embed name folder)
  if(NOT TARGET sextant_${name})
    return()
  endif()
  set(root ${PROJECT_BINARY_DIR}/embedded)
  set(header ${root}/${folder}_files.h)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*)
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake)
  add_custom_command(OUTPUT ${header} COMMAND ${CMAKE_COMMAND} -D "FILES=${files}" -D HEADER=${header} -P ${script}
    DEPENDS ${files} ${script} COMMENT "Embedding src/${folder}" VERBATIM)
  target_sources(sextant_${name} PRIVATE ${header})
  target_include_directories(sextant_${name} PRIVATE ${root})
endfunction()
