# Libraries from the distribution, each under one imported name.

find_package(SQLite3 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
find_package(ZLIB REQUIRED)
pkg_check_modules(simdjson REQUIRED IMPORTED_TARGET simdjson)
find_package(tl-expected REQUIRED)
find_package(yaml-cpp REQUIRED)

if(SHARDLENS_UI OR SHARDLENS_TRAINER)
  find_package(nlohmann_json REQUIRED)
endif()
if(SHARDLENS_UI)
  pkg_check_modules(re2 REQUIRED IMPORTED_TARGET re2)
  find_package(CLI11 REQUIRED)
  find_package(glfw3 3.3 REQUIRED)
  find_package(OpenGL REQUIRED)
  pkg_check_modules(imgui REQUIRED IMPORTED_TARGET imgui)
endif()

if(SHARDLENS_TESTS)
  find_package(GTest REQUIRED)
endif()
