#include "app/launch/job_request.h"

#include <algorithm>
#include <string_view>
#include <system_error>

#include "trace/base/number_text.h"
#include "trace/base/this_machine.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::launch {
namespace {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::Result;

constexpr std::string_view kBuiltinData = "builtin";

// Too short texts are the trainer's to measure: it knows the tokenizer.
Result<void> check_text(const std::string& knob, const std::string& data,
                        const std::string& otherwise) {
  if (data == kBuiltinData || data == otherwise) return {};
  std::error_code error;
  const fs::path path = data;
  const auto status = fs::status(path, error);
  const std::string what = knob + ": " + data;
  if (!fs::exists(status)) {
    return trace::base::fail(ErrorKind::kUsage,
                             what +
                                 " does not exist. Name a text file or a folder of "
                                 "text files, or use " +
                                 otherwise + ".");
  }
  if (fs::is_directory(status) && fs::is_empty(path, error)) {
    return trace::base::fail(ErrorKind::kMissing,
                             what + " is an empty folder. Put text files into it.");
  }
  if (fs::is_regular_file(status) && fs::file_size(path, error) == 0) {
    return trace::base::fail(ErrorKind::kMissing, what + " is empty. Name a file that holds text.");
  }
  return {};
}

Result<void> check_data(const trace::job::Settings& settings) {
  TRY(check_text("data", settings.data, std::string(kBuiltinData)));
  return check_text("evaluation_data", settings.evaluation_data, "split");
}

// Refused before any rank starts: no checkpoint there, a damaged one, one of another model.
Result<void> check_resume(const JobRequest& request) {
  const trace::job::Settings& settings = request.settings;
  if (!trace::job::resumes(settings)) return {};
  TRY_ASSIGN(const auto folder, trace::job::find_checkpoint(settings.resume));
  TRY_ASSIGN(const auto info, trace::job::read_checkpoint_info(folder));
  TRY_ASSIGN(const auto shape, trace::job::find_model(settings));
  return trace::job::check_resume(info, settings, trace::job::saved_parameters(shape, settings),
                                  trace::job::notes_of_meaning(settings, shape),
                                  trace::job::leaves_model(settings) && !request.is_measured);
}

// What a rank on a CPU takes before it has a model, less what processes share: 90 MB measured.
constexpr std::int64_t kLeastBytesOfARank = 80'000'000;

// Another program's run may have had far more ranks than this machine can hold.
Result<void> check_ranks_fit(std::int64_t ranks) {
  const std::int64_t memory = trace::base::memory_bytes();
  const std::int64_t most = std::max<std::int64_t>(1, memory / kLeastBytesOfARank);
  if (memory == 0 || ranks <= most) return {};
  return trace::base::fail(ErrorKind::kUsage,
                           trace::base::counted(ranks, "rank") +
                               " on the CPU need more memory than this machine has, even without "
                               "a model. Use ranks " +
                               std::to_string(most) + " or fewer.");
}

bool lies_in(const fs::path& path, const fs::path& folder) {
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(path, error);
  const fs::path outer = fs::weakly_canonical(folder, error);
  return fs::exists(inner, error) &&
         std::mismatch(outer.begin(), outer.end(), inner.begin(), inner.end()).first == outer.end();
}

// What the ranks are to read must not go with the run that theirs replaces.
Result<void> check_replaced(const JobRequest& request) {
  if (!request.overwrite || request.name.empty()) return {};
  TRY_ASSIGN(const auto runs, trace::store::runs_to_replace(request.runs_dir, request.name,
                                                            trace::store::TakenName::kIsReplaced));
  for (const std::string_view knob : {"model", "tokenizer", "data", "evaluation_data", "resume"}) {
    const std::string path = value_text(request.settings, *trace::job::find_knob(knob));
    for (const trace::model::RunInfo& run : runs) {
      if (!lies_in(path, run.folder)) continue;
      return trace::base::fail(
          ErrorKind::kUsage, std::string(knob) + ": " + path + " lies in the run '" + request.name +
                                 "', which would be deleted: choose another name for the new "
                                 "one.");
    }
  }
  return {};
}

}  // namespace

bool runs_on_cpu(const trace::job::Settings& settings, const CudaProbe& cuda) {
  return trace::job::runs_on_cpu(settings, !cuda.devices.empty());
}

Result<std::string> resolve_device(const trace::job::Settings& settings, const CudaProbe& cuda) {
  if (runs_on_cpu(settings, cuda)) return "cpu";
  const auto gpus = static_cast<std::int64_t>(cuda.devices.size());
  if (gpus == 0) {
    return trace::base::fail(
        ErrorKind::kUsage,
        "device: cuda needs an NVIDIA GPU and this machine shows none. Use device "
        "cpu, or see `shardlens doctor`.");
  }
  if (settings.ranks > gpus && !settings.oversubscribe) {
    return trace::base::fail(ErrorKind::kUsage,
                             trace::base::counted(settings.ranks, "rank") +
                                 " need as many GPUs and this machine has " + std::to_string(gpus) +
                                 ". Use ranks " + std::to_string(gpus) +
                                 ", let ranks share a GPU with oversubscribe (timings are then not "
                                 "representative), or use device cpu.");
  }
  return "cuda";
}

JobRequest default_job(const CudaProbe& cuda) {
  JobRequest request;
  const auto gpus = static_cast<std::int64_t>(cuda.devices.size());
  if (gpus > 0) request.settings.ranks = std::min(request.settings.ranks, gpus);
  return request;
}

Result<trace::model::RunInfo> check_job(const JobRequest& request, const CudaProbe& cuda) {
  TRY(trace::job::validate(request.settings));
  TRY(check_data(request.settings));
  TRY_ASSIGN(const auto shape, trace::job::find_model(request.settings));
  TRY(trace::job::check_sequence(shape, request.settings.sequence_length));
  TRY(check_resume(request));
  TRY(check_replaced(request));
  trace::model::RunInfo info;
  TRY_ASSIGN(info.device, resolve_device(request.settings, cuda));
  if (info.device == "cpu") {
    TRY(check_ranks_fit(request.settings.ranks));
  }
  trace::job::Settings resolved = request.settings;
  resolved.device = trace::job::device_choice(info.device);  // what needs a GPU is known only now
  TRY(trace::job::validate(resolved));
  info.settings = trace::job::with_absolute_paths(request.settings);
  info.world_size = static_cast<int>(request.settings.ranks);
  info.machine = trace::base::machine_mark();
  info.program = "shardlens " SHARDLENS_VERSION;
  info.predicted = request.predicted;
  info.tags = request.tags;
  info.simulated_link = trace::job::has_simulated_link(request.settings);
  info.communication_off = request.settings.communication == trace::job::Communication::kNone;
  info.shared_gpu = info.device == "cuda" &&
                    request.settings.ranks > static_cast<std::int64_t>(cuda.devices.size());
  info.name = request.name.empty()
                  ? trace::job::name_from_difference(request.name_base, request.settings)
                  : request.name;
  return info;
}

}  // namespace shardlens::app::launch
