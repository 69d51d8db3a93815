# SPDX-License-Identifier: Apache-2.0
# senone_add_part(name folders LINKS ...) adds a static library senone_<name> of the *.cc files of a folder, or of a list of
# folders (without subfolders).
# LINKS takes part names (base, model, ...) and targets or libraries. Contraction is off: a*b+c gives the same bits on every
# machine unless the code requests a fused operation.
function(senone_add_part name folders)
  set(sources)
  foreach(folder IN LISTS folders)
    file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/*.cc)
    if(SENONE_DEMO)
      list(REMOVE_ITEM found ${SENONE_LEFT_OUT})
    endif()
    if(NOT found)
      message(FATAL_ERROR "${folder} has no .cc files")
    endif()
    list(APPEND sources ${found})
  endforeach()
  senone_add_part_of(${name} "${sources}" ${ARGN})
endfunction()

# senone_add_part_of(name sources LINKS ...) adds one of the files that are named.
function(senone_add_part_of name sources)
  cmake_parse_arguments(PART "" "" "LINKS" ${ARGN})
  add_library(senone_${name} STATIC ${sources})
  target_include_directories(senone_${name} PUBLIC ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/api)
  target_compile_options(senone_${name} PRIVATE -ffp-contract=off)
  foreach(link IN LISTS PART_LINKS)
    if(TARGET senone_${link})
      target_link_libraries(senone_${name} PUBLIC senone_${link})
    else()
      target_link_libraries(senone_${name} PUBLIC ${link})
    endif()
  endforeach()
  senone_set_warnings(senone_${name})
endfunction()
