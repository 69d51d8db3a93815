# SPDX-License-Identifier: Apache-2.0
# senone_embed_kernels(target file.cl ...) turns file.cl into the KernelSource asr::gpu::kernel_<file> of the target. Its text
# contains the included files (#include "path/from/the/root"), each once. Kernels are compiled on the user's machine.
set(SENONE_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_kernel.cmake)
function(senone_embed_kernels target)
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME_WE)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/kernel_${target}_${name}.cc)
    file(GLOB included CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/base/*-inl.h ${PROJECT_SOURCE_DIR}/plugins/common/*.h
         ${PROJECT_SOURCE_DIR}/plugins/gpu/*/*.h ${PROJECT_SOURCE_DIR}/plugins/ocl/*/*.h ${PROJECT_SOURCE_DIR}/plugins/ocl/*/*.clh)
    add_custom_command(OUTPUT ${output} DEPENDS ${file} ${included} ${SENONE_EMBED_SCRIPT} VERBATIM
                       COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DROOT=${PROJECT_SOURCE_DIR}
                               -P ${SENONE_EMBED_SCRIPT})
    target_sources(${target} PRIVATE ${output})
  endforeach()
endfunction()

# senone_embed_ptx(target name file.cu [nvcc-option ...]) does so with the PTX that nvcc makes of a CUDA file for capability 9.0:
# asr::gpu::kernel_<name>. NVIDIA's OpenCL takes it as a program's binary. CUDAToolkit must have been found. The host's compiler
# is that of the CUDA back end.
set(SENONE_EMBED_PTX_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_ptx.cmake)
function(senone_embed_ptx target name file)
  set(SENONE_CUDA_HOST_COMPILER "$ENV{CUDAHOSTCXX}" CACHE STRING "Host compiler of nvcc for embedded PTX; empty: nvcc's choice")
  mark_as_advanced(SENONE_CUDA_HOST_COMPILER)
  set(host ${SENONE_CUDA_HOST_COMPILER})
  if(CMAKE_CUDA_HOST_COMPILER)
    set(host ${CMAKE_CUDA_HOST_COMPILER})
  endif()
  separate_arguments(flags NATIVE_COMMAND "${CMAKE_CUDA_FLAGS}")
  set(ptx ${CMAKE_CURRENT_BINARY_DIR}/${name}.ptx)
  set(made kernel_${target}_${name}.cc)  # as nvcc's list of includes names it, which quotes no spaces
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${made})
  add_custom_command(OUTPUT ${output} BYPRODUCTS ${ptx} DEPENDS ${file} ${SENONE_EMBED_PTX_SCRIPT} DEPFILE ${ptx}.d VERBATIM
                     COMMAND_EXPAND_LISTS
                     COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -ptx -arch=sm_90a --expt-relaxed-constexpr ${ARGN} ${flags}
                             "$<$<BOOL:${host}>:-ccbin=${host}>" -I${PROJECT_SOURCE_DIR} -I${PROJECT_SOURCE_DIR}/api
                             -MD -MT ${made} -MF ${ptx}.d ${CMAKE_CURRENT_SOURCE_DIR}/${file} -o ${ptx}
                     COMMAND ${CMAKE_COMMAND} -DINPUT=${ptx} -DOUTPUT=${output} -DNAME=${name} -P ${SENONE_EMBED_PTX_SCRIPT})
  target_sources(${target} PRIVATE ${output})
endfunction()
