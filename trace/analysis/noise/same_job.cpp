#include "trace/analysis/noise/same_job.h"

#include <algorithm>
#include <initializer_list>
#include <set>

#include "trace/base/text.h"

namespace shardlens::trace::analysis {

namespace {

bool are_known_and_differ(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && a != b;
}

bool is_of_another_program(const model::RunInfo& info) {
  return !info.imported_from.empty() || !info.command.empty();
}

bool has_any(const std::vector<OtherJob>& reasons, std::initializer_list<OtherJob> wanted) {
  return std::ranges::find_first_of(reasons, wanted) != reasons.end();
}

bool is_same_run(const model::RunInfo& a, const model::RunInfo& b) {
  return &a == &b || (!a.folder.empty() && a.folder == b.folder);
}

}  // namespace

MachineNames machine_of(const std::vector<RankFigures>& ranks) {
  std::set<std::string> hosts, devices;
  for (const auto& rank : ranks) {
    if (!rank.info.host.empty()) hosts.insert(rank.info.host);
    if (!rank.info.device_name.empty()) devices.insert(rank.info.device_name);
  }
  return {base::joined(hosts), base::joined(devices)};
}

bool tells_job(const model::RunInfo& info) {
  return info.imported_from.empty() || !info.command.empty();
}

std::vector<OtherJob> why_other_job(const JobFacts& a, const JobFacts& b) {
  const model::RunInfo &x = *a.info, &y = *b.info;
  std::vector<OtherJob> reasons;
  // Of another program's run the settings say nothing.
  const bool has_foreign = is_of_another_program(x) || is_of_another_program(y);
  if (x.imported_from != y.imported_from || x.command != y.command) {
    reasons.push_back(OtherJob::kProgram);
  } else if (!is_same_run(x, y) && (!tells_job(x) || !tells_job(y))) {
    reasons.push_back(OtherJob::kUntold);
  }
  if (!has_foreign && x.settings.model != y.settings.model) reasons.push_back(OtherJob::kModel);
  if (!has_foreign && x.settings.data != y.settings.data) reasons.push_back(OtherJob::kData);
  if (are_known_and_differ(a.hosts, b.hosts)) reasons.push_back(OtherJob::kMachine);
  if (x.device != y.device || are_known_and_differ(a.devices, b.devices)) {
    reasons.push_back(OtherJob::kDevice);
  }
  return reasons;
}

bool is_only_untold(const std::vector<OtherJob>& reasons) {
  return !reasons.empty() &&
         std::ranges::all_of(reasons, [](OtherJob reason) { return reason == OtherJob::kUntold; });
}

std::string other_job_text(const std::vector<OtherJob>& reasons) {
  std::string text;
  for (const OtherJob reason : reasons) {
    text += text.empty() ? "" : ", ";
    switch (reason) {
      case OtherJob::kUntold:
        text += "what was run is not known";
        break;
      case OtherJob::kProgram:
        text += "another program";
        break;
      case OtherJob::kModel:
        text += "another model";
        break;
      case OtherJob::kData:
        text += "other data";
        break;
      case OtherJob::kMachine:
        text += "another machine";
        break;
      case OtherJob::kDevice:
        text += "another device";
        break;
      case OtherJob::kSteps:
        text += "a trace without marked steps counts as one step";
        break;
    }
  }
  return text;
}

std::string_view other_job_label(const std::vector<OtherJob>& reasons) {
  if (reasons.empty()) return "";
  if (has_any(reasons, {OtherJob::kProgram, OtherJob::kModel, OtherJob::kData})) return "other job";
  if (has_any(reasons, {OtherJob::kUntold})) return "job not known";
  if (has_any(reasons, {OtherJob::kMachine})) return "other machine";
  return has_any(reasons, {OtherJob::kDevice}) ? "other device" : "no steps";
}

bool has_same_work(const model::RunInfo& a, const model::RunInfo& b) {
  const job::Settings &x = a.settings, &y = b.settings;
  return x.batch_per_rank == y.batch_per_rank && x.sequence_length == y.sequence_length &&
         x.gradient_accumulation_steps == y.gradient_accumulation_steps &&
         a.world_size == b.world_size;
}

}  // namespace shardlens::trace::analysis
