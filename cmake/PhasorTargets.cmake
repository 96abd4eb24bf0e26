# Warnings and sanitizers for our own targets, kept away from those who link them.
add_library(phasor_build_flags INTERFACE)
# The order of floating-point operations is part of core's error bounds, and its inline functions
# have to be the same ones in every translation unit: no contraction anywhere.
target_compile_options(phasor_build_flags INTERFACE -ffp-contract=off)
target_compile_options(phasor_build_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow
  -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(PHASOR_SANITIZE)
  target_compile_options(phasor_build_flags INTERFACE -fsanitize=${PHASOR_SANITIZE}
    -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  # Its check opens a pipe, and calls an object invalid when no descriptor is left.
  target_compile_options(phasor_build_flags INTERFACE -fno-sanitize=vptr)
  target_link_options(phasor_build_flags INTERFACE -fsanitize=${PHASOR_SANITIZE})
endif()

# What ./dev tsan runs: tests without gRPC, whose threads ThreadSanitizer does not see rightly.
add_custom_target(phasor_thread_tests)

# phasor_test(name SOURCES... [LIBS...] [TIMEOUT seconds] [THREADS]): one GoogleTest binary, one
# ctest entry. THREADS: a test of what threads share, for ./dev tsan.
function(phasor_test name)
  cmake_parse_arguments(ARG "THREADS" "TIMEOUT" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gmock GTest::gtest_main phasor_build_flags)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  add_test(NAME ${name} COMMAND ${name})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${ARG_TIMEOUT})
  if(ARG_THREADS)
    set_tests_properties(${name} PROPERTIES LABELS threads)
    add_dependencies(phasor_thread_tests ${name})
    if(PHASOR_SANITIZE MATCHES thread)
      target_sources(${name} PRIVATE ${PROJECT_SOURCE_DIR}/tests/tsan/absl_synchronization.cc)
    endif()
  endif()
endfunction()
