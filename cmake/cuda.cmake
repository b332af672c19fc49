# Decides LOPE_WITH_CUDA from LOPE_CUDA and what is on the machine, and makes CUDA a language of the build when it is on.
# CUDAToolkit_ROOT (or CMAKE_CUDA_COMPILER) comes first, then the toolkit that scripts/setup keeps in .venv/cuda, then the
# PATH. CMake's own FindCUDAToolkit is not used: that of CMake 3.25 fails on CUDA 13.

set(LOPE_WITH_CUDA OFF)
if(LOPE_CUDA STREQUAL "AUTO" OR LOPE_CUDA)
  if(NOT CUDAToolkit_ROOT AND DEFINED ENV{CUDAToolkit_ROOT})
    set(CUDAToolkit_ROOT "$ENV{CUDAToolkit_ROOT}")
  endif()
  if(CUDAToolkit_ROOT)
    find_program(CMAKE_CUDA_COMPILER nvcc PATHS "${CUDAToolkit_ROOT}/bin" NO_DEFAULT_PATH)
  else()
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS "${PROJECT_SOURCE_DIR}/.venv/cuda/bin" PATHS /usr/local/cuda/bin)
  endif()
  find_package(LibTorch 2.11 QUIET COMPONENTS CUDA)
  if(CMAKE_CUDA_COMPILER AND LibTorch_CUDA_FOUND)
    set(LOPE_WITH_CUDA ON)
  elseif(LOPE_CUDA STREQUAL "AUTO" AND NOT CUDAToolkit_ROOT)
    message(STATUS "No nvcc with a LibTorch for CUDA found: building without CUDA")
  else()
    message(FATAL_ERROR "LOPE_CUDA=${LOPE_CUDA} with CUDAToolkit_ROOT=${CUDAToolkit_ROOT} needs bin/nvcc there and a LibTorch "
                        "for CUDA: run scripts/setup, set CUDAToolkit_ROOT and Torch_DIR, or use -DLOPE_CUDA=OFF")
  endif()
endif()

if(LOPE_WITH_CUDA)
  set(CMAKE_CUDA_ARCHITECTURES "80;86;90" CACHE STRING "Compute capabilities that .cu files are compiled for")
  enable_language(CUDA)
endif()
