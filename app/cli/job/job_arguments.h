// The options with which commands say what is to be trained: a settings file, --set, and short
// forms of settings. Main thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/store/run/settings_file.h"

namespace CLI {
class App;
}

namespace shardlens::app::cli {

struct JobArguments {
  std::string settings_file;
  std::vector<std::string> assignments;
  // Short forms of settings, as typed.
  std::optional<std::string> ranks, steps, device, link;
  bool oversubscribe = false;
};

void add_job_arguments(CLI::App& command, JobArguments& arguments);
// What a file of another framework says that has no counterpart goes to standard error.
trace::base::Result<trace::job::Settings> settings_of(const JobArguments& arguments);
// The same, with the names of the knobs that file and options give.
trace::base::Result<trace::store::SaidSettings> said_settings_of(const JobArguments& arguments);
// The settings that were given as options, not those of the file. For arguments that are valid.
std::vector<const trace::job::Knob*> knobs_given(const JobArguments& arguments);

}  // namespace shardlens::app::cli
