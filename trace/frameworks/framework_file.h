// What is taken home of a run, and the file of another framework that it becomes. Plain values, any
// thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "trace/frameworks/left_out.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

// The settings of a run, and where it ran.
struct TunedJob {
  job::Settings settings;
  std::string run;         // its name, for the first line; "": they are for the next one
  std::int64_t nodes = 1;  // `settings.ranks` are spread over them evenly; at least 1
  bool on_gpu = false;     // what `device: auto` stood for
  std::string changed{};   // what is not as in that run: "bucket_cap_mb=4"
};
// "as in the run 'base', but bucket_cap_mb=4"
std::string origin_text(const TunedJob& job);

bool computes_on_gpu(const TunedJob& job);

struct FrameworkFile {
  std::string text;
  std::string start;                      // the command line that trains with it, as "train.py"
  std::vector<LeftOut> left_out;          // settings that the file cannot say
  std::vector<std::string> remarks;       // what that framework does otherwise; no full stop
  std::vector<std::string_view> written;  // knobs that the file says, at their defaults, too

  void wrote(std::initializer_list<std::string_view> knobs);
  void remark(const std::string& sentence) { remarks.push_back(sentence); }
  // Where sequences may have different numbers of targets, by which the run weighs them.
  void remark_on_loss(const job::Settings& settings);
  // What is neither written nor said `elsewhere` or by the environment, with the reason.
  void leave_out_the_rest(const TunedJob& job, const std::vector<std::string_view>& elsewhere,
                          const std::function<std::string(std::string_view)>& reason);
};

// `start`, what is left out and the remarks, a line each.
std::string remarks_text(const FrameworkFile& file);

}  // namespace shardlens::trace::frameworks
