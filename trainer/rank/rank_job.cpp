#include "trainer/rank/rank_job.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/job/device_peaks.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/library_environment.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"
#include "trace/job/shape/strategy.h"
#include "trace/store/run/run_folder.h"
#include "trainer/calibration/calibration.h"
#include "trainer/comm/communicator.h"
#include "trainer/comm/rendezvous.h"
#include "trainer/loop/step_exchange.h"
#include "trainer/loop/step_failure.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"
#include "trainer/model/recompute.h"
#include "trainer/rank/build_strategy.h"
#include "trainer/rank/ends_at_once.h"
#include "trainer/rank/made_run.h"
#include "trainer/rank/rank_text.h"
#include "trainer/saving/model_saver.h"

namespace shardlens::trainer::rank {

namespace {

// Between two tellings that a text is being prepared; far less than others wait.
constexpr std::chrono::seconds kTellingInterval{10};
// Rank 0, which lets the others meet, may itself not be there yet; the text goes on without it.
constexpr std::chrono::seconds kTellingPatience{2};

void set_threads(const trace::job::Settings& settings, int local_world_size) {
  at::set_num_threads(static_cast<int>(trace::job::threads_of_a_rank(
      settings, local_world_size, std::thread::hardware_concurrency())));
  // Nothing here runs operators in parallel with each other.
  at::set_num_interop_threads(1);
}

// Sets variables that a rank on a GPU needs. No other thread runs yet, and what the launcher has
// set stays.
void choose_environment(const RankDevice& device, int rank, bool is_single_machine) {
  const auto choose = [](const char* name, const std::string& value) {
    setenv(name, value.c_str(), /*overwrite=*/0);
  };
  // Between ranks of one machine nothing should listen to the network; NCCL's own choice would be
  // its first interface.
  if (is_single_machine) choose("NCCL_SOCKET_IFNAME", "lo");
  // NCCL refuses two ranks on one GPU unless they seem to be on different hosts.
  if (device.is_shared) choose("NCCL_HOSTID", "shardlens-rank-" + std::to_string(rank));
  // NCCL looks for its profiler plugin in this program, unless the user wants another.
  choose(profiler::nccl::NcclPlugin::kVariable, profiler::nccl::NcclPlugin::kThisProgram);
  // After a collective's timeout LibTorch's watchdog waits four times as long for its own diagnosis
  // before it ends the process; by default that is a minute.
  choose("TORCH_NCCL_WAIT_TIMEOUT_DUMP_MILSEC", "1000");
}

// As early: sets what our launcher would have set, under another one that does not know these
// knobs.
void change_environment(const trace::job::Settings& settings, const VariableLookup& lookup) {
  const auto is_set = [&](std::string_view name) {
    return lookup(std::string(name).c_str()) != nullptr;
  };
  for (const auto& [name, value] : trace::job::environment_changes(settings, is_set)) {
    const std::string variable(name);
    value ? setenv(variable.c_str(), value->c_str(), /*overwrite=*/1) : unsetenv(variable.c_str());
  }
}

// "124,734,720 parameters, 294,912 of them trained (0.24 %)"
std::string parameters_text(const model::ModelShape& shape, const trace::job::Settings& settings) {
  const trace::job::TrainedShare share = trace::job::trained_share(shape, settings);
  std::string text = trace::base::grouped(share.all) + " parameters";
  if (share.trained == share.all) return text;
  const double percent =
      100.0 * static_cast<double>(share.trained) / static_cast<double>(share.all);
  return text + ", " + trace::base::grouped(share.trained) +
         trace::base::formatted(" of them trained (%.3g %%)", percent);
}

}  // namespace

RankJob::RankJob(const AgreedRun& run, const RankPlace& environment,
                 const std::atomic<int>& stop_signal, OnHang on_hang)
    : settings_(run.info.settings),
      run_(run),
      environment_(environment),
      stop_signal_(stop_signal),
      on_hang_(std::move(on_hang)) {}

RankJob::~RankJob() = default;

trace::base::Result<loop::TrainOutcome> RankJob::run() {
  try {
    TRY(prepare_process());
    if (const auto prepared = prepare_training(); !prepared) {
      if (stop_signal_ == 0 || is_connected()) return tl::make_unexpected(prepared.error());
      log_.info(prepared.error().message);
      outcome_.left_early = true;
      return loop::TrainOutcome{.stopped = true};
    }
    TRY_ASSIGN(const auto injections, trace::job::parse_injections(settings_.inject));
    TRY_ASSIGN(evaluate::SampleWriter samples,
               evaluate::SampleWriter::create(settings_, *dataset_, *std::move(sample_text_)));
    const auto on_piece_saved = [this] { tell_piece_saved(); };
    TRY_ASSIGN(const auto saver, saving::ModelSaver::create(
                                     {settings_, run_.folder, shape_, *model_,
                                      dataset_->label_names(), tokenizer_, fresh_, on_piece_saved},
                                     environment_.rank == 0));
    loop::TrainLoop loop(
        {settings_, shape_, *dataset_, device_.device, *model_, *strategy_, *communicator_,
         run_.folder, *recorder_, &sources_->memory_sampler(), log_, stop_signal_, samples, saver,
         [this](std::int64_t steps, std::int64_t total) { tell(steps, total); }, on_piece_saved},
        injections);
    auto trained = loop.run();
    if (trained) outcome_.left_early = trained->stopped;
    return trained;
  } catch (const std::exception& failure) {
    return tl::make_unexpected(loop::describe_failure(failure, "before the first step"));
  }
}

trace::base::Result<loop::TrainOutcome> RankJob::calibrate(double seconds) {
  if (environment_.world_size < 2) {
    return trace::base::fail(trace::base::ErrorKind::kUsage,
                             "One rank moves nothing: collectives cost something between two or "
                             "more. Start more ranks.");
  }
  loop::TrainOutcome outcome;
  try {
    TRY(prepare_process());
    TRY(connect());
    calibration::CalibrationOptions options;
    options.time = std::chrono::duration_cast<std::chrono::nanoseconds>(
        std::chrono::duration<double>(seconds));
    // What a job moves at once is at most all of its model.
    options.largest_bytes = 4 * trace::job::trained_share(shape_, settings_).all;
    options.seed = static_cast<std::uint64_t>(settings_.seed);
    options.shard_group_size = static_cast<int>(trace::job::shard_group_size(
        settings_, environment_.world_size, environment_.local_world_size));
    calibration::Calibration measuring(*communicator_, *recorder_, options, stop_signal_);
    outcome.stopped = outcome_.left_early = measuring.run([&](std::int64_t steps) {
      outcome.steps = steps;
      tell(steps, 0);
    });
  } catch (const std::exception& failure) {
    return tl::make_unexpected(loop::describe_failure(failure, "while measuring collectives"));
  }
  return outcome;
}

void RankJob::tell(std::int64_t steps, std::int64_t steps_total) {
  outcome_.steps = steps;
  outcome_.steps_total = steps_total;
  trace::model::tell_outcome(environment_.outcome_descriptor, outcome());
}

void RankJob::tell_piece_saved() {
  recorder_->progress();
  ++outcome_.saved_pieces;
  trace::model::tell_outcome(environment_.outcome_descriptor, outcome());
}

trace::model::RankOutcome RankJob::outcome() const {
  trace::model::RankOutcome now = outcome_;
  now.stop_signal = stop_signal_;
  if (recorder_) {
    now.unwritten = recorder_->unwritten();
    now.set_recording_error(recorder_->failure());
  }
  return now;
}

trace::base::Result<void> RankJob::prepare_process() {
  TRY(trace::job::validate(settings_));
  set_threads(settings_, environment_.local_world_size);
  TRY(profiler::pytorch::install_cpu_memory_tracker());
  // Before the first call of CUDA.
  if (!environment_.launcher_process && settings_.device != trace::job::DeviceChoice::kCpu) {
    change_environment(settings_, environment_.lookup);
  }
  TRY_ASSIGN(device_, choose_device(settings_, environment_));
  trace::job::Settings resolved = settings_;
  resolved.device =
      trace::job::device_choice(device_.kind());  // what needs a GPU is known only now
  TRY(trace::job::validate(resolved));
  if (device_.device.is_cuda()) {
    choose_environment(device_, environment_.rank, is_single_machine());
    TRY_ASSIGN(cuda_, cuda::load_cuda_part());
  } else {
    comm::turn_flight_recorder_off();
  }
  TRY_ASSIGN(shape_, trace::job::find_model(settings_));
  TRY(start_recorder());
  tell_made_run();
  return {};
}

// Not before: a store of this rank's own has a thread, and the environment was changed above.
void RankJob::tell_made_run() {
  const bool is_awaited =
      environment_.rank == 0 && !environment_.launcher_process && !is_single_machine();
  if (!is_awaited) return;
  try {
    const EndsAtOnce waiting(stop_signal_);
    store_ = comm::meet(environment_);
    rank::tell_made_run(*store_, run_.info.start_ns);
  } catch (const std::exception&) {
    if (environment_.agent_store) store_.reset();  // as in tell_preparing()
  }
}

trace::base::Result<void> RankJob::prepare_training() {
  TRY(trace::job::check_sequence(shape_, settings_.sequence_length));
  TRY(open_model_folder());
  TRY(load_text());
  TRY(connect());
  TRY(loop::check_equal_on_all_ranks(*communicator_, device_.device,
                                     {dataset_->token_count(), dataset_->checksum()}, "text"));
  if (model_folder_) {
    // Each rank reads its part of the model from the disk of its own machine.
    TRY(loop::check_equal_on_all_ranks(*communicator_, device_.device, {folder_checksum_},
                                       "model folder"));
  }
  return build_replicas();
}

trace::base::Result<void> RankJob::start_recorder() {
  profiler::recorder::RecorderOptions options;
  options.file = trace::store::rank_file(run_.folder, environment_.rank);
  TRY_ASSIGN(options.schedule, trace::job::parse_record_schedule(settings_.record));
  options.size_limit_bytes = settings_.record_limit_mb << 20;
  trace::model::RankInfo& info = options.rank_info;
  info.rank = environment_.rank;
  info.local_rank = environment_.local_rank;
  info.host = trace::base::host_name();
  info.process_id = getpid();
  info.device = device_.device.str();
  info.device_name = device_name(device_.device);
  info.versions = "shardlens " SHARDLENS_VERSION ", LibTorch " TORCH_VERSION;
  describe_gpu(info);
  const bool allows_tf32 = device_.device.is_cuda() && at::globalContext().allowTF32CuBLAS();
  const trace::job::PeakFlops peak =
      trace::job::peak_flops(settings_, info.device_name, allows_tf32);
  info.peak_flops = peak.per_second;
  info.peak_flops_origin = peak.origin;
  info.environment = trace::job::noted_environment(environment_.lookup);
  const trace::job::TrainedShare share = trace::job::trained_share(shape_, settings_);
  info.parameters = share.all;
  info.trained_parameters = share.trained;
  info.model = trace::job::shape_text(shape_);
  const bool has_detail = !options.schedule.is_empty();
  TRY_ASSIGN(recorder_, profiler::recorder::Recorder::start(std::move(options)));
  log_ = loop::RankLog(recorder_.get());
  sources_ = std::make_unique<RankSources>(
      RankSources::Parts{*recorder_, log_, settings_, environment_, device_, gpu_,
                         trace::store::rank_log(run_.folder, environment_.rank), has_detail});
  return {};
}

void RankJob::describe_gpu(trace::model::RankInfo& info) {
  if (!device_.device.is_cuda()) return;
  gpu_ = gather_gpu_facts(*cuda_, device_, environment_);
  info.versions += ", " + gpu_.versions;
  info.link = gpu_.link.text;
  info.link_bytes_per_second = gpu_.link.bytes_per_second;
}

// Only what its files have, so that every rank says what is wrong with them before it waits for
// others.
trace::base::Result<void> RankJob::open_model_folder() {
  if (!trace::job::is_model_folder(settings_.model)) return {};
  TRY_ASSIGN(model_folder_, huggingface::FolderSource::open(settings_, shape_, [this] {
               reading_ ? reading_->piece_done() : recorder_->progress();
             }));
  fresh_ = model_folder_->fresh();
  const std::uint64_t shape = trace::base::checksum_of(trace::job::shape_text(shape_));
  TRY_ASSIGN(const std::uint64_t values, model_folder_->sample_checksum(shape));
  folder_checksum_ = static_cast<std::int64_t>(values >> 1);  // its negative must exist, too
  return {};
}

trace::base::Result<void> RankJob::load_text() {
  // Texts may take hours, and what prepares them has limits of its own.
  next_telling_ = std::chrono::steady_clock::now() + kTellingInterval;
  const auto is_stopped = [this] {
    recorder_->progress();
    if (stop_signal_ == 0) tell_preparing();
    return stop_signal_ != 0;
  };
  TRY_ASSIGN(RankText text, load_rank_text(settings_, shape_.vocabulary, shape_.labels,
                                           environment_.lookup, is_stopped, log_));
  next_telling_ = next_telling_.max();  // samples are turned into text later, too
  sample_text_.emplace(std::move(text.sample));
  tokenizer_ = std::move(text.tokenizer);
  TRY_ASSIGN(dataset_,
             data::TokenDataset::create(
                 std::move(text.training), std::move(text.evaluation), settings_,
                 {shape_.vocabulary, shape_.labels, text.padding_token}, environment_.world_size));
  if (environment_.rank == 0) {
    for (const std::string& note : dataset_->notes()) log_.info(note);
  }
  return {};
}

// To ranks that are ready and wait for this one, as where their machine had the tokens already.
void RankJob::tell_preparing() {
  if (std::chrono::steady_clock::now() < next_telling_) return;
  try {
    const EndsAtOnce waiting(stop_signal_);
    if (!store_) store_ = comm::meet(environment_, kTellingPatience);
    comm::tell_preparing(*store_);
  } catch (const std::exception&) {
    // connect() tries again, and says it: anew, but where the store is this rank's own.
    if (environment_.rank != 0 || environment_.agent_store) store_.reset();
  }
  next_telling_ = std::chrono::steady_clock::now() + kTellingInterval;
}

bool RankJob::is_single_machine() const {
  return environment_.local_world_size == environment_.world_size;
}

trace::base::Result<void> RankJob::connect() {
  comm::CommunicatorOptions options{environment_};
  options.store = std::move(store_);
  options.device = device_.device;
  options.timeout = std::chrono::seconds(settings_.collective_timeout_s);
  options.high_priority_streams = trace::job::has_high_priority_streams(settings_);
  TRY_ASSIGN(options.simulated_link, trace::job::parse_simulated_link(settings_.simulate_link));
  options.single_machine = is_single_machine();
  const char* const interfaces = environment_.lookup("GLOO_SOCKET_IFNAME");
  if (interfaces != nullptr) options.gloo_interfaces = interfaces;
  options.records_kernels = sources_->records_nccl_kernels();
  options.on_timeout = [this](const comm::CollectiveTimeout& timeout) { report_hang(timeout); };
  {
    const EndsAtOnce waiting(stop_signal_);
    TRY_ASSIGN(communicator_, comm::Communicator::connect(options, *recorder_));
  }
  TRY(loop::check_equal_on_all_ranks(*communicator_, device_.device, {fingerprint_of(settings_)},
                                     "settings"));
  sources_->check_nccl_plugin();
  return {};
}

void RankJob::report_hang(const comm::CollectiveTimeout& timeout) {
  const std::string place =
      timeout.step < 0 ? "outside of steps" : loop::place_name(timeout.step, timeout.phase);
  on_hang_(*this, {trace::base::ErrorKind::kFailed, place + ": " + timeout.text});
}

trace::base::Result<void> RankJob::build_replicas() {
  {
    const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kParameters);
    const auto seed = static_cast<std::uint64_t>(settings_.seed);
    model_ = model::build_any_model(
        shape_, {settings_.dropout, seed, device_.device, /*has_memory=*/!model_folder_});
    if (model_folder_) model::initialize_parameters(*model_, shape_, seed, model_folder_->fresh());
  }
  {
    const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kParameters);
    TRY(lora::choose_trained_part(*model_, settings_));
  }
  // Before sharding, which gathers a block around its recomputation.
  model::recompute_every_nth_block(*model_, settings_.activation_checkpointing);
  std::optional<lora::BaseSource> base;
  if (model_folder_) {
    base.emplace(*model_, *model_folder_);
    // Of large models some ranks read for longer than the others may wait in a collective.
    reading_.emplace(*communicator_, "model values", [this] { recorder_->progress(); });
  }
  strategy_ =
      build_strategy(settings_, *model_, *communicator_, *recorder_, environment_.local_world_size,
                     base ? &*base : nullptr, [this] { static_cast<void>(reading_->agree({})); });
  reading_.reset();
  // Dropout differs between ranks, as their data does.
  torch::manual_seed(static_cast<std::uint64_t>(settings_.seed + environment_.rank));
  if (environment_.rank == 0) {
    log_.info("model " + settings_.model + ": " + parameters_text(shape_, settings_) + "; text " +
              settings_.data + ": " + trace::base::grouped(dataset_->training_samples()) +
              " sequences of " + (dataset_->is_packed() ? "" : "at most ") +
              std::to_string(settings_.sequence_length) + " tokens for training, " +
              trace::base::grouped(dataset_->evaluation_samples()) + " for evaluation");
    if (model_folder_ && !model_folder_->fresh().empty()) tell_new_head();
  }
  model_folder_.reset();
  return {};
}

void RankJob::tell_new_head() {
  const std::int64_t other = model_folder_->other_classes();
  const std::string what =
      "the model folder has no head for " + std::to_string(shape_.labels) + " classes" +
      (other > 0 ? ", but one for " + std::to_string(other) + ", which is not used" : "") + ": " +
      std::to_string(model_folder_->fresh().size()) + " tensors start from the seed";
  other > 0 ? log_.warn(what) : log_.info(what);
}

trace::base::Result<void> RankJob::finish(const trace::base::Error* failure) {
  if (sources_) sources_->stop_sampling();
  if (failure == nullptr) {
    strategy_.reset();
    if (communicator_) communicator_->shutdown();
    if (sources_) sources_->stop_operators();
  }
  if (sources_) sources_->stop_gpu_activity();
  if (!recorder_) return {};
  if (failure != nullptr) recorder_->log(trace::model::LogLine::Level::kError, failure->message);
  // After a failure its GPU may still be at work.
  auto written = recorder_->stop(/*has_all=*/failure == nullptr);
  outcome_.finished = failure == nullptr;
  trace::model::tell_outcome(environment_.outcome_descriptor, outcome());
  return written;
}

void RankJob::save_in_haste(const trace::base::Error& failure) {
  recorder_->log(trace::model::LogLine::Level::kError, failure.message);
  sources_->save_in_haste();
}

}  // namespace shardlens::trainer::rank
