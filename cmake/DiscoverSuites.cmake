# Read by ctest, not by CMake: registers each test suite of PROGRAM, a GoogleTest program, as one test of the
# suite's name. Its suites are kept in SUITES, as starting it only to ask is what this is to save.
if(NOT EXISTS "${PROGRAM}")
  add_test("${PROGRAM}_NOT_BUILT" "${PROGRAM}")
  return()
endif()
if(NOT EXISTS "${SUITES}" OR NOT "${SUITES}" IS_NEWER_THAN "${PROGRAM}")
  # The first program to load LibTorch waits for the disk.
  execute_process(COMMAND "${PROGRAM}" --gtest_list_tests TIMEOUT 120
                  OUTPUT_VARIABLE listing RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${PROGRAM} --gtest_list_tests: ${result}\n${listing}")
  endif()
  # Tests are indented, suites end with a point, which says that the heading is none.
  string(REGEX MATCHALL "\n[^ \n]+\\.[ \n]" suites "\n${listing}")
  string(REGEX REPLACE "[ \n]|\\.[ \n]" "" suites "${suites}")
  file(WRITE "${SUITES}" "${suites}")
endif()
file(READ "${SUITES}" suites)
foreach(suite IN LISTS suites)
  add_test("${suite}" "${PROGRAM}" "--gtest_filter=${suite}.*")
  # A test that skips itself would go unseen among the others.
  set_tests_properties("${suite}" PROPERTIES FAIL_REGULAR_EXPRESSION "  SKIPPED " ${PROPERTIES})
endforeach()
