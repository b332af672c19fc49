# lope_own_target(<target>): how this project compiles its own code; none of it reaches those who link the library.
#
# NDEBUG stays defined in debug builds: LibTorch is compiled with it and the layout of some of its classes depends on it.

function(lope_own_target target)
  target_compile_options(
    ${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror>
                      $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>)
  target_compile_definitions(${target} PRIVATE NDEBUG)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF CUDA_STANDARD 20 CUDA_EXTENSIONS OFF)
endfunction()
