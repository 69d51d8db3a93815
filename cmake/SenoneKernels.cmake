# SPDX-License-Identifier: Apache-2.0
# senone_embed_kernels(target file.cl ...) turns file.cl into the KernelSource asr::ocl::kernel_<file> of the target. Its text
# contains the included files (#include "path/from/the/root"), each once. Kernels are compiled on the user's machine.
set(SENONE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_kernel.cmake)
function(senone_embed_kernels target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/kernel_${target}_${name}.cc)
    file(GLOB included CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/plugins/common/kernels/*
         ${PROJECT_SOURCE_DIR}/plugins/common/ocl/kernels/* ${PROJECT_SOURCE_DIR}/core/base/*-inl.h)
    add_custom_command(OUTPUT ${output} DEPENDS ${file} ${included} ${SENONE_EMBED_SCRIPT} VERBATIM
                       COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR}
                               -P ${SENONE_EMBED_SCRIPT})
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()
