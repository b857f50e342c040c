# add_layer(<name> SOURCES <files>… [DEPENDS <targets>…])
#   One folder of the architecture as the static library shardlens::<name>.
# add_layer_test(<name> SOURCES <files>… DEPENDS <targets>… [LABELS <labels>…] [SERIAL] [BY_SUITE] [TIMEOUT <seconds>]
#                [LIBTORCH])
#   Its tests, one executable, registered with ctest test by test; BY_SUITE: suite by suite, each in one process,
#   for programs with LibTorch, which takes half a second to start, and for those of many short cases. There a test that
#   skips itself fails. LIBTORCH: with its precompiled header.

function(add_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(shardlens_${name} STATIC ${LAYER_SOURCES})
  add_library(shardlens::${name} ALIAS shardlens_${name})
  target_link_libraries(shardlens_${name} PUBLIC ${LAYER_DEPENDS} shardlens_flags)
  compile_in_batches(shardlens_${name})
endfunction()

# Half of a first build is parsing the same headers for each file; a file with LibTorch's takes 7 seconds before
# its own first line. With SHARDLENS_UNITY (the release preset, and folders that ./run and ./test make) 24 files
# of a layer, or of a program of tests, are compiled as one, which needs names in anonymous namespaces to be unique within
# it. (Eight take a third more, one three times as much.)
function(compile_in_batches target)
  if(SHARDLENS_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  endif()
endfunction()

function(add_layer_test name)
  cmake_parse_arguments(TEST "SERIAL;BY_SUITE;LIBTORCH" "TIMEOUT" "SOURCES;DEPENDS;LABELS" ${ARGN})
  add_executable(${name} ${TEST_SOURCES})
  target_link_libraries(${name} PRIVATE ${TEST_DEPENDS} GTest::gtest_main GTest::gmock shardlens_flags)
  target_compile_definitions(${name} PRIVATE
      SHARDLENS_TEST_DATA="${CMAKE_SOURCE_DIR}/tests/data"
      SHARDLENS_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
      SHARDLENS_BINARY_DIR="${CMAKE_BINARY_DIR}")
  set(properties TIMEOUT 300)
  if(TEST_TIMEOUT)
    set(properties TIMEOUT ${TEST_TIMEOUT})
  endif()
  if(TEST_LABELS)
    list(APPEND properties LABELS "${TEST_LABELS}")
  endif()
  if(TEST_SERIAL)
    list(APPEND properties RUN_SERIAL ON)
  endif()
  compile_in_batches(${name})
  if(TEST_LIBTORCH)
    use_precompiled_header(${name} torch_pch)
  elseif(TARGET shardlens_test_pch)
    use_precompiled_header(${name} test_pch)
    target_compile_options(${name} PRIVATE ${TEST_PCH_OPTIONS})
  endif()
  if(TEST_BY_SUITE)
    discover_suites(${name} ${properties})
    return()
  endif()
  include(GoogleTest)
  # The first program to load LibTorch waits for the disk, longer than the default of 5 seconds.
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
                       PROPERTIES ${properties})
endfunction()

# discover_suites(<target> <properties>…): each of its test suites is one test, found when ctest starts.
function(discover_suites target)
  set(discovery ${CMAKE_CURRENT_BINARY_DIR}/${target}_discovery.cmake)
  file(GENERATE OUTPUT ${discovery} CONTENT
       "set(PROGRAM \"$<TARGET_FILE:${target}>\")
set(SUITES \"${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.txt\")
set(PROPERTIES \"${ARGN}\")
include(\"${CMAKE_SOURCE_DIR}/cmake/DiscoverSuites.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${discovery})
endfunction()
