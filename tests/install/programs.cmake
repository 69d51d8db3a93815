# SPDX-License-Identifier: Apache-2.0
# Programs of another project that use each target of Senone; HELLO and HELLO_CPP are their sources.
add_executable(hello ${HELLO})
target_link_libraries(hello PRIVATE Senone::senone)
add_executable(hello_cpp ${HELLO_CPP})
target_link_libraries(hello_cpp PRIVATE Senone::cpp)
add_executable(hello_static ${HELLO})
target_link_libraries(hello_static PRIVATE Senone::static)
add_executable(hello_cpp_static ${HELLO_CPP})
target_link_libraries(hello_cpp_static PRIVATE Senone::static)
target_compile_features(hello_cpp_static PRIVATE cxx_std_17)
