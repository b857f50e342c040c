#include "trace/analysis/noise/same_job.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <set>

#include "trace/base/text.h"
#include "trace/model/packed.h"

namespace shardlens::trace::analysis {

namespace {

bool are_known_and_differ(std::string_view a, std::string_view b) {
  return !a.empty() && !b.empty() && a != b;
}

bool is_of_another_program(const model::RunInfo& info) {
  return !info.imported_from.empty() || !info.command.empty();
}

std::vector<std::string_view> names_in(std::string_view hosts) {
  auto names = base::split(hosts, ',');
  for (std::string_view& name : names) name = base::trimmed(name);
  return names;
}

// By `pack`, which numbers the hosts of each run anew. Of what was packed before it noted that, and
// before machines were, only the names tell.
bool are_numbered(const std::vector<std::string_view>& hosts, const model::RunInfo& run) {
  if (run.is_packed || !run.machine.empty()) return run.is_packed;
  return std::ranges::all_of(hosts, [](std::string_view host) {
    return host.starts_with(model::kPackedHost) &&
           base::number_from<int>(host.substr(model::kPackedHost.size()));
  });
}

// Whether a run had each host of another. Numbers say nothing of another file's, but the machines
// that began the runs do; of what was packed before these were recorded, equal numbers are taken to
// be equal hosts. None: it is not known.
std::optional<bool> had_hosts_of(const JobFacts& run, const JobFacts& other) {
  const auto own = names_in(run.hosts), wanted = names_in(other.hosts);
  const bool numbered = are_numbered(own, *run.info),
             is_other_numbered = are_numbered(wanted, *other.info);
  const std::string &machine = run.info->machine, &other_machine = other.info->machine;
  if ((numbered || is_other_numbered) && !machine.empty() && !other_machine.empty()) {
    return machine == other_machine && own.size() >= wanted.size();
  }
  const bool is_one_marked = machine.empty() != other_machine.empty();
  if (numbered != is_other_numbered || (numbered && is_one_marked)) return std::nullopt;
  return std::ranges::all_of(
      wanted, [&](std::string_view host) { return std::ranges::find(own, host) != own.end(); });
}

std::optional<OtherJob> why_other_machine(const JobFacts& a, const JobFacts& b) {
  if (a.hosts.empty() || b.hosts.empty()) return std::nullopt;
  const auto there = had_hosts_of(a, b), here = had_hosts_of(b, a);
  if (!there || !here) return OtherJob::kUntoldMachine;
  return *there && *here ? std::nullopt : std::optional(OtherJob::kMachine);
}

bool is_same_run(const model::RunInfo& a, const model::RunInfo& b) {
  return &a == &b || (!a.folder.empty() && a.folder == b.folder);
}

// What was run; of a packed run a model's or a data set's place is shortened, and the command is
// left out, so that only the marks of its machine tell them apart.
std::vector<OtherJob> why_other_work(const model::RunInfo& x, const model::RunInfo& y) {
  if (!x.job.empty() && x.job == y.job) return {};
  // Of another program's run the settings say nothing.
  const bool is_foreign = is_of_another_program(x) || is_of_another_program(y);
  const bool are_marked = x.machine == y.machine && are_known_and_differ(x.job, y.job);
  if (x.imported_from != y.imported_from || are_known_and_differ(x.command, y.command) ||
      (is_foreign && are_marked)) {
    return {OtherJob::kProgram};
  }
  if (!is_same_run(x, y) && (!tells_job(x) || !tells_job(y))) return {OtherJob::kUntold};
  if (is_foreign) return {};
  std::vector<OtherJob> reasons;
  bool is_untold = false;
  const auto compare = [&](const std::string& a, const std::string& b, OtherJob reason) {
    const bool may_be_same = model::may_be_one(a, b);
    if (a != b && !may_be_same) reasons.push_back(reason);
    is_untold = is_untold || (may_be_same && (a != b || x.job != y.job));
  };
  compare(x.settings.model, y.settings.model, OtherJob::kModel);
  compare(x.settings.data, y.settings.data, OtherJob::kData);
  if (reasons.empty() && is_untold) reasons.push_back(OtherJob::kUntold);
  return reasons;
}

bool has_any(const std::vector<OtherJob>& reasons, std::initializer_list<OtherJob> wanted) {
  return std::ranges::find_first_of(reasons, wanted) != reasons.end();
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
  std::vector<OtherJob> reasons = why_other_work(x, y);
  if (const auto machine = why_other_machine(a, b)) reasons.push_back(*machine);
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
  static constexpr std::array<std::string_view, 8> kTexts{
      "what was run is not known",
      "another program",
      "another model",
      "other data",
      "another machine",
      "whether it is the same machine is not known",
      "another device",
      "a trace without marked steps counts as one step"};
  return base::joined(reasons, ", ", [](OtherJob reason) {
    return base::enum_name<OtherJob::kSteps>(kTexts, reason);
  });
}

std::string_view other_job_label(const std::vector<OtherJob>& reasons) {
  if (reasons.empty()) return "";
  if (has_any(reasons, {OtherJob::kProgram, OtherJob::kModel, OtherJob::kData})) return "other job";
  if (has_any(reasons, {OtherJob::kUntold})) return "job not known";
  if (has_any(reasons, {OtherJob::kMachine})) return "other machine";
  if (has_any(reasons, {OtherJob::kUntoldMachine})) return "machine not known";
  return has_any(reasons, {OtherJob::kDevice}) ? "other device" : "no steps";
}

bool is_same_job_with_more_hosts(const JobFacts& few, const JobFacts& many) {
  auto reasons = why_other_job(few, many);
  if (had_hosts_of(many, few) == true) std::erase(reasons, OtherJob::kMachine);
  return reasons.empty();
}

bool has_same_work(const model::RunInfo& a, const model::RunInfo& b) {
  const job::Settings &x = a.settings, &y = b.settings;
  return x.batch_per_rank == y.batch_per_rank && x.sequence_length == y.sequence_length &&
         x.gradient_accumulation_steps == y.gradient_accumulation_steps &&
         a.world_size == b.world_size;
}

}  // namespace shardlens::trace::analysis
