# Headers that many files include, compiled once: parsing them takes longer than what most files say themselves. One target
# compiles a header, the others use its result (same flags everywhere).
#
# add_precompiled_header(<name> HEADERS <headers>… [DEPENDS <targets>…])
# use_precompiled_header(<target> <name>): the last call counts.

function(add_precompiled_header name)
  cmake_parse_arguments(PCH "" "" "HEADERS;DEPENDS" ${ARGN})
  set(source ${CMAKE_BINARY_DIR}/${name}/${name}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiles a precompiled header.\n")
  add_library(shardlens_${name} STATIC ${source})
  target_link_libraries(shardlens_${name} PUBLIC ${PCH_DEPENDS} shardlens_flags)
  target_precompile_headers(shardlens_${name} PRIVATE ${PCH_HEADERS})
  # ccache needs it to see what the header includes.
  target_compile_options(shardlens_${name} PRIVATE -fpch-preprocess)
endfunction()

function(use_precompiled_header target name)
  set_target_properties(${target} PROPERTIES PRECOMPILE_HEADERS_REUSE_FROM shardlens_${name})
  target_compile_options(${target} PRIVATE -fpch-preprocess)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "EXECUTABLE")
    # The header was compiled with -fPIC; an executable's -fPIE makes it unusable.
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
endfunction()
