# SPDX-License-Identifier: Apache-2.0
# How SENONE_UNITY builds: the files of a part are compiled together, since most of the time is spent on headers. The demo and
# the builds of tests are made so. Whoever edits a file again and again configures with -DSENONE_UNITY=OFF: then it is compiled
# alone. The releases are, too, so that a missing #include is found. Included before the first target.
set(CMAKE_UNITY_BUILD ON)

# Compiles the files of a target by twelve, and those that have options of their own alone. The files made here name those that
# they include from the folder of the sources on, so that a compiler's cache knows them again in any folder; CMake's would not.
function(senone_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  get_target_property(sources ${target} SOURCES)
  set(alone) # and what is not compiled
  set(together)
  foreach(source IN LISTS sources)
    get_filename_component(path ${source} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${path})
    string(FIND ${path} ${PROJECT_BINARY_DIR}/ is_made)
    math(EXPR is_special "${is_made} + 1")
    foreach(property COMPILE_OPTIONS COMPILE_DEFINITIONS SKIP_UNITY_BUILD_INCLUSION)
      get_source_file_property(value ${path} TARGET_DIRECTORY ${target} ${property})
      if(value)
        set(is_special 1)
      endif()
    endforeach()
    if(is_special OR NOT name MATCHES "\\.cc$")
      list(APPEND alone ${source})
    else()
      list(APPEND together ${name})
    endif()
  endforeach()
  list(LENGTH together n_left)
  if(n_left LESS 2)
    return()
  endif()
  set(number 0)
  while(n_left GREATER 0)
    list(SUBLIST together 0 12 batch)
    list(TRANSFORM batch REPLACE "(.+)" "#include \"\\1\"\n")
    list(JOIN batch "" content)
    set(file ${PROJECT_BINARY_DIR}/unity/${target}_${number}.cc)
    file(CONFIGURE OUTPUT ${file} CONTENT "${content}")
    list(APPEND alone ${file})
    math(EXPR number "${number} + 1")
    math(EXPR n_left "${n_left} - 12")
    if(n_left GREATER 0)
      list(SUBLIST together 12 -1 together)
    endif()
  endwhile()
  set_target_properties(${target} PROPERTIES SOURCES "${alone}")
endfunction()

# Does so for all targets of this folder and below for which CMAKE_UNITY_BUILD was on. Called after the last target.
function(senone_compile_targets_together folder)
  get_property(targets DIRECTORY ${folder} PROPERTY BUILDSYSTEM_TARGETS)
  foreach(target IN LISTS targets)
    get_target_property(wanted ${target} UNITY_BUILD)
    if(wanted)
      senone_compile_together(${target})
    endif()
  endforeach()
  get_property(folders DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(below IN LISTS folders)
    senone_compile_targets_together(${below})
  endforeach()
endfunction()

# Files that are compiled by themselves: Highway includes the first five several times, and the others have private names that
# another file of their part has, too. Plugins of tests include plugins/cpu/entry.cc.
set_source_files_properties(plugins/cpu/gmm_clusters.cc plugins/cpu/gmm_diagonal.cc plugins/cpu/gmm_full.cc
                            plugins/cpu/gmm_shared.cc plugins/cpu/mfcc_block.cc
                            core/base/parallel.cc core/base/shared_copy.cc core/decode/tonality.cc
                            core/decode/voice_activity.cc core/graph/archive.cc
                            core/lattice/prepared_lattice.cc core/lattice/unordered_lattice.cc core/model/bundle.cc
                            core/model/hmm_file.cc plugins/cpu/entry.cc plugins/cpu/mfcc.cc plugins/gpu/features/mfcc_tiles.cc
                            builder/g2p/unit_ngram.cc builder/graph/srgs.cc builder/graph/token_expansion.cc builder/graph/xml.cc
                            builder/import/kaldi.cc
                            tools/bench_mfcc.cc tools/g2p.cc tools/graph.cc tools/recognize_utterance.cc
                            reference/lattice.cc reference/plp.cc reference/viterbi.cc
                            PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
