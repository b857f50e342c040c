# LibTorch, CUDA's runtime, CUPTI and NCCL as they come with `pip install torch`, as imported targets:
#   libtorch::torch   tensors, autograd, c10d with Gloo; CUDA's memory and streams
#   cuda::runtime
#   cuda::headers     of the runtime, the driver and CUPTI, without a library
# and, unless SHARDLENS_CPU_ONLY is true, as ./run has fetched only what a machine without a GPU needs:
#   libtorch::cuda    CUDA's operators and c10d with NCCL, too: loaded at run time (trainer/cuda)
#   nccl::nccl
# find_package(Torch) is not used: it wants a full CUDA toolkit.

if(NOT SHARDLENS_LIBTORCH)
  file(GLOB candidates ${CMAKE_SOURCE_DIR}/.deps/venv/lib/python3*/site-packages/torch)
  if(candidates)
    list(GET candidates 0 SHARDLENS_LIBTORCH_DIR)
  endif()
  file(GLOB fetched ${CMAKE_SOURCE_DIR}/.deps/libtorch-*)
  if(fetched)
    file(STRINGS ${fetched} SHARDLENS_CPU_ONLY REGEX "^cpu$")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${fetched})
  endif()
else()
  set(SHARDLENS_LIBTORCH_DIR ${SHARDLENS_LIBTORCH})
endif()
if(NOT EXISTS "${SHARDLENS_LIBTORCH_DIR}/include/ATen/ATen.h")
  message(FATAL_ERROR "LibTorch not found. Run ./run once, which fetches it into .deps, set "
                      "-DSHARDLENS_LIBTORCH=<folder of the Python package torch>, or build the "
                      "viewer alone with -DSHARDLENS_TRAINER=OFF.")
endif()

file(STRINGS "${SHARDLENS_LIBTORCH_DIR}/include/torch/headeronly/version.h" version_lines
     REGEX "#define TORCH_VERSION_(MAJOR|MINOR) ")
string(REGEX MATCHALL "[0-9]+" version_numbers "${version_lines}")
list(JOIN version_numbers "." SHARDLENS_LIBTORCH_VERSION)
# c10d::Reducer's constructor differs between releases.
if(NOT SHARDLENS_LIBTORCH_VERSION VERSION_EQUAL "2.11")
  message(FATAL_ERROR "LibTorch 2.11 is needed; ${SHARDLENS_LIBTORCH_DIR} has "
                      "${SHARDLENS_LIBTORCH_VERSION}.")
endif()

if(SHARDLENS_CPU_ONLY AND SHARDLENS_TESTS)
  message(FATAL_ERROR "The tests need also what only GPUs use. Run ./test once, which fetches it into .deps, or build "
                      "without them: -DSHARDLENS_TESTS=OFF.")
endif()

get_filename_component(packages "${SHARDLENS_LIBTORCH_DIR}" DIRECTORY)
# The Python that LibTorch belongs to, which tests and benchmarks compare with; not the one that drives our programs.
cmake_path(SET environment NORMALIZE ${packages}/../../..)
if(NOT SHARDLENS_CPU_ONLY)
  find_program(SHARDLENS_TORCH_PYTHON python3 PATHS ${environment}/bin NO_DEFAULT_PATH)
  if(NOT SHARDLENS_TORCH_PYTHON)
    message(WARNING "No Python beside LibTorch in ${environment}/bin: the trainer is not compared to PyTorch.")
  endif()
endif()
set(cuda ${packages}/nvidia/cu13)
set(nccl ${packages}/nvidia/nccl)
set(torch_lib ${SHARDLENS_LIBTORCH_DIR}/lib)

function(import_library target file)
  cmake_parse_arguments(LIB "" "" "INCLUDES;LINKS" ${ARGN})
  add_library(${target} SHARED IMPORTED)
  set_target_properties(${target} PROPERTIES IMPORTED_LOCATION ${file} IMPORTED_NO_SONAME OFF)
  if(LIB_INCLUDES)
    target_include_directories(${target} SYSTEM INTERFACE ${LIB_INCLUDES})
  endif()
  if(LIB_LINKS)
    target_link_libraries(${target} INTERFACE ${LIB_LINKS})
  endif()
endfunction()

import_library(cuda::runtime ${cuda}/lib/libcudart.so.13 INCLUDES ${cuda}/include)
set(SHARDLENS_CUPTI ${cuda}/lib/libcupti.so.13)  # looked for at run time; tests name it
add_library(cuda::headers INTERFACE IMPORTED)
target_include_directories(cuda::headers SYSTEM INTERFACE ${cuda}/include)

add_library(libtorch::torch INTERFACE IMPORTED)
target_include_directories(libtorch::torch SYSTEM INTERFACE
    ${SHARDLENS_LIBTORCH_DIR}/include
    ${SHARDLENS_LIBTORCH_DIR}/include/torch/csrc/api/include
    ${cuda}/include)
# The process groups' headers are empty without these.
target_compile_definitions(libtorch::torch INTERFACE USE_C10D_GLOO USE_C10D_NCCL USE_DISTRIBUTED
    USE_CUDA)
# Operators register themselves: the libraries are needed although nothing names them.
# libstdc++ comes first: libtorch.so exports parts of std::filesystem of another version, which crash
# (remove_all calls a null pointer).
target_link_options(libtorch::torch INTERFACE
    -Wl,--no-as-needed -lstdc++ -L${torch_lib}
    -Wl,-rpath,${torch_lib} -Wl,-rpath,${cuda}/lib -Wl,-rpath,${nccl}/lib
    -Wl,-rpath-link,${cuda}/lib -Wl,-rpath-link,${nccl}/lib -Wl,-rpath-link,${packages}/nvidia/cudnn/lib
    -Wl,-rpath-link,${packages}/nvidia/cusparselt/lib -Wl,-rpath-link,${packages}/nvidia/nvshmem/lib)
target_link_libraries(libtorch::torch INTERFACE
    torch_cpu c10 c10_cuda cuda::runtime)
if(NOT SHARDLENS_CPU_ONLY)
  import_library(nccl::nccl ${nccl}/lib/libnccl.so.2 INCLUDES ${nccl}/include)
  add_library(libtorch::cuda INTERFACE IMPORTED)
  target_link_libraries(libtorch::cuda INTERFACE libtorch::torch torch_cuda nccl::nccl)
endif()
# Programs find what they load beside them.
set(CMAKE_BUILD_RPATH "$ORIGIN")

# add_torch_layer(<name> …): as add_layer, with LibTorch and its one precompiled header.
function(add_torch_layer name)
  add_layer(${name} ${ARGN})
  target_link_libraries(shardlens_${name} PUBLIC libtorch::torch)
  use_torch_pch(shardlens_${name})
endfunction()

# What most files need: whatever inline functions of a precompiled header use is instantiated again in each file that uses it.
# With <torch/torch.h> and the reducer that takes 10 s of processor time a file, with these 4 s.
add_precompiled_header(torch_pch
    HEADERS <torch/types.h> <torch/csrc/distributed/c10d/ProcessGroup.hpp>
    DEPENDS libtorch::torch)

function(use_torch_pch target)
  use_precompiled_header(${target} torch_pch)
endfunction()
