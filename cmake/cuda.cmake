# Decides LOPE_WITH_CUDA from LOPE_CUDA and what is on the machine, and makes CUDA a language of the build when it is on.
# CUDAToolkit_ROOT (or CMAKE_CUDA_COMPILER) comes first, then the toolkit that scripts/setup keeps in .venv/cuda, then the PATH.

set(LOPE_WITH_CUDA OFF)
if(LOPE_CUDA STREQUAL "OFF" OR LOPE_CUDA STREQUAL "0")
  return()
endif()

if(NOT CUDAToolkit_ROOT AND DEFINED ENV{CUDAToolkit_ROOT})
  set(CUDAToolkit_ROOT "$ENV{CUDAToolkit_ROOT}")
endif()
if(NOT CUDAToolkit_ROOT AND NOT CMAKE_CUDA_COMPILER AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/cuda/bin/nvcc")
  set(CUDAToolkit_ROOT "${PROJECT_SOURCE_DIR}/.venv/cuda" CACHE PATH "Root of the CUDA toolkit")
endif()
if(CUDAToolkit_ROOT AND NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER "${CUDAToolkit_ROOT}/bin/nvcc")
endif()

find_package(CUDAToolkit 12.8 QUIET)
find_package(LibTorch 2.11 QUIET COMPONENTS CUDA)
if(CUDAToolkit_NVCC_EXECUTABLE AND LibTorch_CUDA_FOUND)
  set(LOPE_WITH_CUDA ON)
elseif(NOT LOPE_CUDA STREQUAL "AUTO")
  message(FATAL_ERROR "LOPE_CUDA=${LOPE_CUDA} needs nvcc and a LibTorch with CUDA: run scripts/setup, "
                      "set CUDAToolkit_ROOT and Torch_DIR, or use -DLOPE_CUDA=OFF")
else()
  message(STATUS "No CUDA toolkit found: building without CUDA")
  return()
endif()

set(CMAKE_CUDA_ARCHITECTURES "80;86;90" CACHE STRING "Compute capabilities that .cu files are compiled for")
enable_language(CUDA)
