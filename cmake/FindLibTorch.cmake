# Finds LibTorch in a pip wheel or an unpacked archive, without the wheel's own package (which asks for a CUDA toolkit even on
# a CPU-only build).
#
#   find_package(LibTorch REQUIRED [COMPONENTS CUDA])
#   target_link_libraries(app PRIVATE LibTorch::LibTorch)
#
# Looks at Torch_DIR (torch/share/cmake/Torch, or the torch folder itself), then LibTorch_ROOT, then asks the Python of
# LibTorch_PYTHON, of a .venv in the source folder, and of the PATH.
#
# Sets LibTorch_FOLDER and LibTorch_VERSION. Targets: LibTorch::LibTorch, and with the component CUDA it brings libtorch_cuda,
# libc10_cuda and the CUDA runtime (LibTorch_CUDART, by choice the one that LibTorch itself loads) along.

function(_libtorch_ask_python python result)
  execute_process(
    COMMAND "${python}" -c
            "import importlib.util as u, os; s = u.find_spec('torch'); print(os.path.dirname(s.origin) if s else '')"
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  set(${result} "${answer}" PARENT_SCOPE)
endfunction()

function(_libtorch_folder result)
  set(folders "${Torch_DIR}" "${Torch_DIR}/../../.." "$ENV{Torch_DIR}" "$ENV{Torch_DIR}/../../.." "${LibTorch_ROOT}")
  if(NOT Torch_DIR AND NOT "$ENV{Torch_DIR}" AND NOT LibTorch_ROOT)
    foreach(python IN ITEMS "${LibTorch_PYTHON}" "${CMAKE_SOURCE_DIR}/.venv/bin/python"
                            "${CMAKE_CURRENT_SOURCE_DIR}/.venv/bin/python" python3)
      if(python STREQUAL "python3" OR EXISTS "${python}")
        _libtorch_ask_python("${python}" folder)
        list(APPEND folders "${folder}")
      endif()
    endforeach()
  endif()
  foreach(folder IN LISTS folders)
    if(folder AND EXISTS "${folder}/lib/libtorch_cpu.so")
      get_filename_component(folder "${folder}" REALPATH)
      set(${result} "${folder}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(_libtorch_version folder result)
  set(version "")
  if(EXISTS "${folder}/include/torch/headeronly/version.h")
    file(STRINGS "${folder}/include/torch/headeronly/version.h" lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) ")
    list(TRANSFORM lines REPLACE "^.* ([0-9]+)$" "\\1")
    list(JOIN lines "." version)
  endif()
  set(${result} "${version}" PARENT_SCOPE)
endfunction()

# libtorch_cuda registers its kernels when it is loaded and nothing refers to it by name: the linker must keep it.
# CUDA changes what is linked, not how a file is compiled: builds with and without it share their objects in ccache.
function(_libtorch_define_target folder with_cuda)
  add_library(LibTorch::LibTorch INTERFACE IMPORTED)
  target_include_directories(LibTorch::LibTorch SYSTEM INTERFACE "${folder}/include"
                                                                 "${folder}/include/torch/csrc/api/include")
  # The fmt headers inside LibTorch are the only ones that fit it, and no fmt library does.
  target_compile_definitions(LibTorch::LibTorch INTERFACE FMT_HEADER_ONLY=1 USE_DISTRIBUTED USE_C10D_GLOO)
  target_link_directories(LibTorch::LibTorch INTERFACE "${folder}/lib")
  target_link_options(LibTorch::LibTorch INTERFACE "LINKER:-rpath,${folder}/lib")
  target_link_libraries(LibTorch::LibTorch INTERFACE "${folder}/lib/libtorch_cpu.so" "${folder}/lib/libc10.so")
  if(with_cuda)
    target_link_libraries(
      LibTorch::LibTorch
      INTERFACE "-Wl,--push-state,--no-as-needed,${folder}/lib/libtorch_cuda.so,--pop-state"
                "${folder}/lib/libc10_cuda.so" "${LibTorch_CUDART}")
  endif()
endfunction()

_libtorch_folder(LibTorch_FOLDER)
if(LibTorch_FOLDER)
  _libtorch_version("${LibTorch_FOLDER}" LibTorch_VERSION)
endif()

set(LibTorch_CUDA_FOUND FALSE)
if("CUDA" IN_LIST LibTorch_FIND_COMPONENTS AND EXISTS "${LibTorch_FOLDER}/lib/libtorch_cuda.so")
  find_library(
    LibTorch_CUDART
    NAMES libcudart.so.13 libcudart.so.12 cudart
    HINTS "${LibTorch_FOLDER}/lib" "${LibTorch_FOLDER}/../nvidia/cu13/lib" "${CUDAToolkit_ROOT}/lib64"
          "${CUDAToolkit_ROOT}/lib" "$ENV{CUDAToolkit_ROOT}/lib64"
    PATHS /usr/local/cuda/lib64)
  if(LibTorch_CUDART)
    set(LibTorch_CUDA_FOUND TRUE)
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(
  LibTorch
  REQUIRED_VARS LibTorch_FOLDER
  VERSION_VAR LibTorch_VERSION
  HANDLE_COMPONENTS
  REASON_FAILURE_MESSAGE "run scripts/setup, or give -DTorch_DIR=<torch folder>/share/cmake/Torch")

if(LibTorch_FOUND AND NOT TARGET LibTorch::LibTorch)
  _libtorch_define_target("${LibTorch_FOLDER}" ${LibTorch_CUDA_FOUND})
endif()
