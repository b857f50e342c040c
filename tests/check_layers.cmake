# Proves from the #include lines that dependencies point only the way ARCHITECTURE.md says.
#   cmake -DROOT=<checkout> -P tests/check_layers.cmake
cmake_minimum_required(VERSION 3.25)

# Folder | project folders it may include | third-party headers it may include (regular expressions).
# The most specific folder decides.
set(rules
  "trace/base|trace/base|"
  "trace/model|trace/base trace/model|tl/"
  "trace/store|trace/base trace/model trace/store|sqlite3 xxhash zstd yaml-cpp/"
  "trace/interop|trace/base trace/model trace/store trace/interop|tl/ simdjson zlib"
  "trace/job/huggingface|trace/base trace/model trace/job/huggingface|nlohmann/"
  "trace/synthetic|trace/base trace/model trace/store trace/synthetic|"
  "trace/analysis|trace/base trace/model trace/predict trace/analysis|"
  "trace/predict|trace/base trace/model trace/predict|"
  "trace/timeline|trace/base trace/model trace/predict trace/analysis trace/timeline|"
  "trace/explore|trace/base trace/model trace/store trace/predict trace/analysis trace/timeline trace/explore|re2/"
  "profiler|trace/base trace/model trace/store profiler|"
  "profiler/nvml|trace/base trace/model trace/store profiler profiler/nvml|"
  "profiler/torch|trace/base trace/model trace/store profiler profiler/torch|torch/ ATen/ c10/"
  "profiler/cupti|trace/base trace/model trace/store profiler profiler/cupti|cupti cuda"
  "profiler/inject|trace/base trace/model trace/store trace/timeline profiler profiler/cupti profiler/nccl profiler/nvml profiler/inject|"
  "profiler/nccl|trace/base trace/model trace/store profiler profiler/nccl|"
  "trainer|trace/base trace/model trace/job/huggingface trace/store trace/predict profiler profiler/torch profiler/cupti profiler/nccl profiler/nvml trainer trainer/checkpoint trainer/huggingface trainer/lora trainer/text|torch/ ATen/ c10/ cuda nccl"
  "trainer/checkpoint|trace/base trace/model trace/store trainer trainer/checkpoint|torch/ nlohmann/"
  "trainer/huggingface|trace/base trace/model trace/job/huggingface trace/store trainer trainer/checkpoint trainer/huggingface|torch/ nlohmann/"
  "trainer/lora|trace/base trace/model trainer trainer/checkpoint trainer/lora|torch/ ATen/ c10/ nlohmann/"
  "trainer/text|trace/base trace/model trainer/text|simdjson xxhash nlohmann/"
  "ui|trace/base trace/model trace/analysis trace/predict trace/timeline ui|imgui"
  "app|trace/base trace/model trace/job/huggingface trace/store trace/interop trace/synthetic trace/analysis trace/predict trace/timeline trace/explore ui app|CLI/ nlohmann/"
  "app/cli|trace/base trace/model trace/job/huggingface trace/store trace/interop trace/synthetic trace/analysis trace/predict trace/timeline trace/explore profiler/nvml ui app app/cli|CLI/ nlohmann/"
  "app/window|trace/base trace/model trace/store trace/analysis trace/predict trace/timeline ui app|imgui GLFW/ GL/ stb yaml-cpp/")
set(guarded "tl/|sqlite3|xxhash|zstd|simdjson|zlib|re2/|yaml-cpp/|torch/|ATen/|c10/|cupti|cuda|nccl|imgui|GLFW/|GL/|stb|CLI/|nlohmann/")

function(rule_of file out)
  set(best "")
  foreach(rule IN LISTS rules)
    string(REGEX MATCH "^[^|]+" folder "${rule}")
    string(FIND "${file}" "${folder}/" at)
    string(LENGTH "${folder}" length)
    string(REGEX MATCH "^[^|]+" best_folder "${best}")
    string(LENGTH "${best_folder}" best_length)
    if(at EQUAL 0 AND length GREATER best_length)
      set(best "${rule}")
    endif()
  endforeach()
  set(${out} "${best}" PARENT_SCOPE)
endfunction()

function(check_own file header folders)
  string(REGEX REPLACE "/[^/]+$" "" folder "${header}")
  rule_of("${header}" target_rule)
  string(REGEX MATCH "^[^|]+" target "${target_rule}")
  if(NOT target IN_LIST folders)
    message(SEND_ERROR "${file} includes \"${header}\", but its folder may only include: ${folders}")
  endif()
endfunction()

function(check_file file)
  rule_of("${file}" rule)
  string(REPLACE "|" ";" parts "${rule}|")
  list(GET parts 1 folders)
  list(GET parts 2 libraries)
  separate_arguments(folders)
  separate_arguments(libraries)
  if(file MATCHES "^app/")
    list(APPEND folders app/window app/cli)
  endif()
  list(JOIN libraries "|" allowed)
  file(STRINGS "${ROOT}/${file}" includes REGEX "^#include [<\"]")
  foreach(line IN LISTS includes)
    string(REGEX REPLACE "^#include [<\"]([^>\"]+)[>\"].*" "\\1" header "${line}")
    if(header MATCHES "^(trace|profiler|trainer|ui|app)/")
      check_own("${file}" "${header}" "${folders}")
    elseif(header MATCHES "^(${guarded})" AND NOT (allowed AND header MATCHES "^(${allowed})"))
      message(SEND_ERROR "${file} includes <${header}>, which its folder may not use")
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE files RELATIVE "${ROOT}"
     ${ROOT}/trace/*.h ${ROOT}/trace/*.cpp ${ROOT}/profiler/*.h ${ROOT}/profiler/*.cpp
     ${ROOT}/trainer/*.h ${ROOT}/trainer/*.cpp ${ROOT}/ui/*.h ${ROOT}/ui/*.cpp
     ${ROOT}/app/*.h ${ROOT}/app/*.cpp)
list(LENGTH files count)
if(NOT DEFINED MINIMUM)
  set(MINIMUM 20)
endif()
if(count LESS MINIMUM)
  message(FATAL_ERROR "only ${count} source files found under '${ROOT}'")
endif()
foreach(file IN LISTS files)
  check_file("${file}")
endforeach()
message(STATUS "${count} files keep to the layers")
