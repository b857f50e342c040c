#include "trace/frameworks/framework_file.h"

#include "trace/frameworks/start_line.h"

namespace shardlens::trace::frameworks {

std::string origin_text(const TunedJob& job) {
  if (job.run.empty()) return "as set for the next run";
  const std::string run = "as in the run '" + job.run + "'";
  return job.changed.empty() ? run : run + ", but " + job.changed;
}

void FrameworkFile::wrote(std::initializer_list<std::string_view> knobs) {
  written.insert(written.end(), knobs);
}

void FrameworkFile::remark_on_loss(const job::Settings& settings) {
  const bool all_have_as_many =
      settings.data == job::Settings{}.data && settings.packing != job::AutoBool::kFalse;
  if (all_have_as_many) return;
  remark(
      "the run's loss is the mean over all targets of a step, but averaging micro-batches and "
      "ranks "
      "gives targets in short texts more weight; to weigh alike, let a micro-batch's loss be the "
      "sum over its targets, times micro-batches and ranks, divided by the step's targets on all "
      "ranks");
}

void FrameworkFile::leave_out_the_rest(const TunedJob& job,
                                       const std::vector<std::string_view>& elsewhere,
                                       const std::function<std::string(std::string_view)>& reason) {
  auto said = written;
  for (const std::string_view knob : knobs_of_environment(job)) said.push_back(knob);
  said.insert(said.end(), elsewhere.begin(), elsewhere.end());
  left_out = frameworks::left_out(job.settings, said, reason);
}

std::string remarks_text(const FrameworkFile& file) {
  std::string text = "start with: " + file.start + "\n";
  for (const LeftOut& each : file.left_out) {
    text += "left out: " + std::string(each.knob) + ": " + each.value + " (" + each.reason + ")\n";
  }
  for (const std::string& remark : file.remarks) text += "differs: " + remark + "\n";
  return text;
}

}  // namespace shardlens::trace::frameworks
