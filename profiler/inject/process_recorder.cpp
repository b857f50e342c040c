#include "profiler/inject/process_recorder.h"

#include <unistd.h>

#include <cstdio>
#include <numeric>
#include <string>
#include <thread>
#include <utility>

#include "profiler/inject/cuda_driver.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/job/settings/grammars.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::profiler::inject {

namespace {

using trace::base::Result;

cupti::CuptiOptions cupti_options() {
  cupti::CuptiOptions options;
  // The CUPTI that is loaded if the program has not loaded one itself.
  std::error_code error;
  options.library = std::filesystem::exists(SHARDLENS_CUPTI, error) ? SHARDLENS_CUPTI : "";
  options.graphs = true;
  return options;
}

Result<std::int64_t> size_limit(const VariableLookup& lookup) {
  const auto text = lookup("SHARDLENS_RECORD_LIMIT_MB");
  if (!text) return INT64_MAX;
  const auto megabytes = trace::base::number_from<std::int64_t>(*text);
  if (megabytes && *megabytes > 0 && *megabytes < (INT64_MAX >> 20)) return *megabytes << 20;
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "SHARDLENS_RECORD_LIMIT_MB is \"" + *text + "\", which is no size in MiB.");
}

trace::model::RankInfo rank_info(const RankIdentity& identity) {
  trace::model::RankInfo info;
  info.rank = identity.rank;
  info.local_rank = identity.local_rank;
  info.host = trace::base::host_name();
  info.process_id = getpid();
  info.device = "cpu";
  return info;
}

void warn(const std::string& text) { std::fprintf(stderr, "shardlens: %s\n", text.c_str()); }

}  // namespace

std::filesystem::path nccl_log_file(std::string_view pattern, std::string_view host, int process) {
  std::string file;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char mark = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[++i] : '\0';
    switch (mark) {
      case '\0':
        file += pattern[i];
        break;
      case '%':
        file += '%';
        break;
      case 'h':
        file += host.substr(0, host.find('.'));
        break;
      case 'p':
        file += std::to_string(process);
        break;
      default:
        file += {'%', mark};
    }
  }
  return file;
}

Result<std::optional<ProcessOptions>> process_options(const VariableLookup& lookup) {
  const auto folder = lookup("SHARDLENS_RECORD_FOLDER");
  if (!folder || folder->empty()) return std::nullopt;
  ProcessOptions options;
  options.run_folder = *folder;
  if (const auto file = lookup("NCCL_DEBUG_FILE"))
    options.nccl_log = nccl_log_file(*file, trace::base::host_name(), getpid());
  if (const auto steps = lookup("SHARDLENS_RECORD_STEPS")) {
    TRY_ASSIGN(options.schedule, trace::job::parse_record_schedule(*steps));
  }
  TRY_ASSIGN(options.size_limit_bytes, size_limit(lookup));
  return options;
}

Result<std::unique_ptr<ProcessRecorder>> ProcessRecorder::start(
    const ProcessOptions& options, const std::optional<RankIdentity>& known) {
  TRY_ASSIGN(const RankIdentity identity, claim_rank(options.run_folder, known));
  recorder::RecorderOptions recording;
  recording.file = trace::store::rank_file(options.run_folder, identity.rank);
  recording.rank_info = rank_info(identity);
  recording.schedule = options.schedule;
  recording.size_limit_bytes = options.size_limit_bytes;
  recording.late_steps = true;
  TRY_ASSIGN(auto recorder, recorder::Recorder::start(std::move(recording)));
  return std::unique_ptr<ProcessRecorder>(
      new ProcessRecorder(std::move(recorder), identity, options));
}

ProcessRecorder::ProcessRecorder(std::unique_ptr<recorder::Recorder> recorder,
                                 const RankIdentity& identity, const ProcessOptions& options)
    : recorder_(std::move(recorder)),
      identity_(identity),
      run_folder_(options.run_folder),
      steps_(*recorder_),
      ranges_(*recorder_, steps_),
      streams_(steps_),
      device_(*recorder_, identity) {
  save_before_death();
  if (!options.nccl_log.empty())
    nccl_warnings_ = std::make_unique<process::WarningTail>(*recorder_, options.nccl_log);
  if (identity_.world_size > 0) {
    std::vector<int> everybody(static_cast<std::size_t>(identity_.world_size));
    std::iota(everybody.begin(), everybody.end(), 0);
    recorder_->add_process_group(0, "world", "", std::move(everybody));
  }
  recorder_->follow_sources([this] { return sources() + std::string(trace::model::kEndNotTold); });
}

ProcessRecorder::~ProcessRecorder() { finish(); }

void ProcessRecorder::prepare_gpu() {
  static_cast<void>(cupti::CuptiSource::prepare(cupti_options()));
}

void ProcessRecorder::watch_gpu() {
  if (gpu_activity_ != nullptr || !gpu_problem_.empty()) return;
  start_gpu_activity();
  nccl::LaunchMarker marker;
  if (gpu_activity_) {
    marker = {cupti::CuptiSource::begin_launch, cupti::CuptiSource::end_launch,
              gpu_activity_->graphs_refused().empty()};
  }
  if (auto plugin = nccl::NcclPlugin::attach(*recorder_, identity_.rank, marker))
    nccl_plugin_ = std::move(*plugin);
}

void ProcessRecorder::start_gpu_activity() {
  cupti::CuptiOptions options = cupti_options();
  options.on_kernel = [this](const cupti::KernelActivity& kernel, trace::model::StringId name) {
    note_gpu_use(kernel.stream.device);
    check_nccl_plugin(kernel.name);
    streams_.add(kernel, name);
  };
  auto source = cupti::CuptiSource::start(*recorder_, std::move(options));
  if (source) {
    gpu_activity_ = std::move(*source);
    if (const std::string& refused = gpu_activity_->graphs_refused(); !refused.empty()) {
      recorder_->log(trace::model::LogLine::Level::kInfo,
                     "CUPTI does not tell of CUDA graphs: " + refused +
                         ". Collectives that they replay are shown as kernels.");
    }
    steps_.watch_activity([] { return CudaDriver().has_context(); });
  } else {
    gpu_problem_ = source.error().message;
    recorder_->log(trace::model::LogLine::Level::kWarning, gpu_problem_);
    warn(gpu_problem_);
  }
}

// CUPTI also starts where a program only asks how many GPUs there are, and computes without.
void ProcessRecorder::note_gpu_use(std::uint32_t device) {
  if (has_gpu_activity_.exchange(true)) return;
  steps_.note_activity();
  recorder_->update_rank_info(
      [&](trace::model::RankInfo& info) { info.device = "cuda:" + std::to_string(device); });
  device_.watch(device);
}

void ProcessRecorder::save_before_death() {
  static constexpr std::chrono::milliseconds kLimit{3'000};
  // The recorder's thread takes what is queued 20 times a second, its writer commits 10 times.
  static constexpr std::chrono::milliseconds kUntilCommitted{250};
  fatal_signals_ = std::make_unique<process::FatalSignals>(
      [this](bool is_last) {
        if (gpu_activity_) gpu_activity_->flush(kLimit / 2);
        if (is_last) {
          steps_.finish();
          // Nobody is left to hear of a failure.
          static_cast<void>(stop_recorder(false));
        } else {
          std::this_thread::sleep_for(kUntilCommitted);
        }
      },
      kLimit);
}

trace::base::Result<void> ProcessRecorder::stop_recorder(bool has_all) {
  auto stopped = recorder_->stop(has_all);
  if (const auto missing = recorder_->unwritten().total(); missing > 0)
    tell_unwritten(run_folder_, identity_.rank, missing);
  return stopped;
}

// A communicator is told of before its first kernel runs.
void ProcessRecorder::check_nccl_plugin(std::string_view kernel) {
  if (has_nccl_kernels_ || nccl::NcclPlugin::communicators() > 0) return;
  has_nccl_kernels_ = kernel.find("nccl") != std::string_view::npos;
  if (!has_nccl_kernels_) return;
  recorder_->log(
      trace::model::LogLine::Level::kWarning,
      "Collectives are not recorded, only their kernels: NCCL did not load Shardlens as its "
      "profiler plugin. It must be of version 2.28 or newer, as PyTorch 2.11 has it, and "
      "NCCL_PROFILER_PLUGIN must not be set.");
}

std::string ProcessRecorder::sources() const {
  std::string text = steps_.text();
  text += has_gpu_activity_ ? "; " + std::string(cupti::CuptiSource::kSourceText)
                            : std::string("; kernels: none were recorded");
  if (nccl::NcclPlugin::communicators() > 0)
    text += "; " + std::string(nccl::NcclPlugin::kSourceText);
  if (device_.has_counters()) {
    text += "; " + device_.memory_source() + "; " + std::string(nvml::NvmlSampler::kSourceText);
  }
  text += "; bucket and unit names: not known from outside";
  if (identity_.told_by == RankSource::kCommunicator)
    text += "; rank: that of NCCL's communicator, no launcher told it";
  if (identity_.told_by == RankSource::kOrderOfStarting)
    text += "; rank: in the order of starting, no launcher told it";
  return text;
}

void ProcessRecorder::finish() {
  if (std::exchange(is_finished_, true)) return;
  fatal_signals_.reset();
  gpu_activity_.reset();  // takes in what CUPTI still holds
  nccl_plugin_.reset();
  nccl_warnings_.reset();
  device_.finish();
  streams_.finish();
  ranges_.finish();
  steps_.finish();
  recorder_->follow_sources(nullptr);
  recorder_->update_rank_info([&](trace::model::RankInfo& info) { info.sources = sources(); });
  if (auto written = stop_recorder(true); !written) warn(written.error().message);
}

}  // namespace shardlens::profiler::inject
