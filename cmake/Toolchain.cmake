# Language, optimisation, sanitizers and ccache: everything that holds for all targets.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
# Ranks are found beside the program; see trainer/CMakeLists.txt.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
# The build type Dev (quick to compile, assertions on) has its flags in CMakePresets.json.

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Without this sloppiness ccache caches nothing that uses a precompiled header; without NOHASHDIR
  # and BASEDIR no build folder, and no other clone, would profit from another. DEPEND asks the compiler what a file
  # includes, which preprocessing it first took a fifth of a build to find out; batches of another clone then do not help.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 CCACHE_DEPEND=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
endif()

# The default linker takes five times as long for one of 60 programs.
find_program(LLD_PROGRAM ld.lld)
if(LLD_PROGRAM AND NOT SHARDLENS_ODR)
  add_link_options(-fuse-ld=lld)
endif()

add_library(shardlens_flags INTERFACE)
target_include_directories(shardlens_flags INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(shardlens_flags INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 and 13 see overlapping copies in std::string at -O3 that are not there (GCC bug 105651).
  target_compile_options(shardlens_flags INTERFACE -Wno-restrict)
  # It collects garbage from 128 MB on, again and again; from 512 MB on a build takes a tenth less processor time, and a
  # compiler at most 300 MB more.
  target_compile_options(shardlens_flags INTERFACE --param=ggc-min-heapsize=524288)
endif()
if(SHARDLENS_WERROR)
  target_compile_options(shardlens_flags INTERFACE -Werror)
endif()
if(SHARDLENS_SANITIZE)
  target_compile_options(shardlens_flags INTERFACE
                         -fsanitize=${SHARDLENS_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(shardlens_flags INTERFACE -fsanitize=${SHARDLENS_SANITIZE})
endif()
if(SHARDLENS_ODR)
  # Only what links sees the types of all files; the compiler keeps them for it.
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
  add_compile_options(-Wodr -Werror=odr)
  add_link_options(-Wodr -Werror=odr)
endif()
find_package(Threads REQUIRED)
target_link_libraries(shardlens_flags INTERFACE Threads::Threads)
