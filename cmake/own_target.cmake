# lope_own_target(<target>): how this project compiles its own code; none of it reaches those who link the library.
# The CUDA runtime comes with LibTorch::LibTorch, shared: a static one beside it would have a state of its own.
#
# NDEBUG stays defined in debug builds: LibTorch is compiled with it and the layout of some of its classes depends on it.

# Warnings are errors with the compiler that CI has. A later one may warn of more, and sanitizers make GCC warn of what is
# not there: neither stops a build. GCC 12 itself sees overlapping copies in additions of strings (its bug 105651).
set(LOPE_WERROR "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13 AND NOT CMAKE_CXX_FLAGS MATCHES
                                                                                          "-fsanitize")
  set(LOPE_WERROR -Werror -Wno-restrict)
endif()

function(lope_own_target target)
  target_compile_options(
    ${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;${LOPE_WERROR}>"
                      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(
    ${target} PROPERTIES CXX_EXTENSIONS OFF CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF
                         CUDA_RUNTIME_LIBRARY None)
endfunction()
