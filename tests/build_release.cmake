# Builds the viewer as ./run does, in FOLDER: optimized, without assertions, in batches of files (see
# cmake/AddLayer.cmake), without LibTorch. Each brings warnings, and so errors, that a daily build does not see.
foreach(step IN ITEMS "--preset;release;-B;${FOLDER};-DSHARDLENS_TRAINER=OFF"
                      "--build;${FOLDER};--target;shardlens")
  execute_process(COMMAND ${CMAKE_COMMAND} ${step} WORKING_DIRECTORY ${ROOT}
                  OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${output}")
  endif()
endforeach()
execute_process(COMMAND ${FOLDER}/bin/shardlens --version COMMAND_ERROR_IS_FATAL ANY)
