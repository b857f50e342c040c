// A command as it is typed, in the test's own process, and what came of it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/cli/command_line.h"

namespace shardlens::app::cli {

struct Called {
  int code = -1;
  std::string out, err;
};

inline Called called(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "shardlens");
  std::vector<const char*> pointers;
  for (const auto& argument : arguments) pointers.push_back(argument.c_str());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  Called result;
  result.code = run_command_line(static_cast<int>(pointers.size()), pointers.data(), {});
  result.out = testing::internal::GetCapturedStdout();
  result.err = testing::internal::GetCapturedStderr();
  return result;
}

}  // namespace shardlens::app::cli
