#include "app/session/jobs/strategy_planner.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "app/launch/job_request.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::session {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;
using trace::job::Settings;

namespace {

constexpr std::chrono::seconds kFresh{3};

bool says_the_same(const trace::base::Result<trace::job::ModelShape>& a,
                   const trace::base::Result<trace::job::ModelShape>& b) {
  if (a.has_value() != b.has_value()) return false;
  return a ? *a == *b : a.error().message == b.error().message;
}

}  // namespace

ModelLookup::ModelLookup(std::function<void()> on_change)
    : on_change_(std::move(on_change)),
      worker_([this](const std::set<std::string>& models, const auto&) { read(models); }) {}

std::optional<trace::base::Result<trace::job::ModelShape>> ModelLookup::find(
    const std::string& model) {
  if (auto preset = trace::job::find_planning_model(model)) return preset;
  const std::lock_guard lock(mutex_);
  const auto at = known_.find(model);
  if (at == known_.end() || Clock::now() - at->second.read_at > kFresh) {
    // A newer request takes the place of one that waits, so it asks for all.
    if (awaited_.insert(model).second) worker_.ask(awaited_);
  }
  if (at == known_.end()) return std::nullopt;
  return at->second.shape;
}

std::uint64_t ModelLookup::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

void ModelLookup::read(const std::set<std::string>& models) {
  bool has_news = false;
  for (const std::string& model : models) {
    auto shape = trace::job::find_planned_model(model);
    const std::lock_guard lock(mutex_);
    awaited_.erase(model);
    const auto at = known_.find(model);
    has_news = has_news || at == known_.end() || !says_the_same(at->second.shape, shape);
    known_.insert_or_assign(model, Known{std::move(shape), Clock::now()});
    if (has_news) ++version_;
  }
  if (has_news && on_change_) on_change_();
}

namespace {

constexpr std::int64_t kMostGpusPerNode = 1024, kMostNodes = 65536;

std::int64_t gpu_bytes(const launch::CudaProbe& cuda) {
  const auto least = std::ranges::min_element(cuda.devices, {}, &launch::CudaDevice::memory_bytes);
  return least == cuda.devices.end() ? 0 : static_cast<std::int64_t>(least->memory_bytes);
}

std::string device_name(const Settings& settings, const Machine& machine) {
  if (launch::runs_on_cpu(settings, machine.cuda)) {
    return "this machine's memory, divided by " + trace::base::counted(settings.ranks, "rank");
  }
  return machine.cuda.devices.empty() ? "" : machine.cuda.devices.front().name;
}

trace::predict::PlannedJob job_here(const Settings& settings, const trace::job::ModelShape& shape,
                                    const Machine& machine) {
  trace::predict::PlannedJob job = trace::predict::job_on_this_machine(settings, shape);
  job.on_gpu = !launch::runs_on_cpu(settings, machine.cuda);
  if (job.on_gpu && !machine.cuda.devices.empty()) {
    job.workspace_bytes = trace::predict::cublas_workspace_bytes(machine.cuda.devices.front().name);
  }
  return job;
}

trace::predict::StrategyPlan estimate(trace::predict::PlannedJob job, trace::job::Strategy strategy,
                                      std::int64_t usable_bytes) {
  trace::predict::StrategyPlan plan;
  plan.strategy = strategy;
  job.settings.sharding_strategy = strategy;
  plan.refused = trace::base::joined(trace::job::problems_of(job.settings), " ",
                                     &trace::job::SettingProblem::message);
  if (!plan.refused.empty()) return plan;
  plan.memory = trace::predict::predict_memory(job);
  plan.traffic = trace::predict::predict_traffic(job);
  plan.spare_bytes = usable_bytes > 0 ? usable_bytes - plan.memory.total() : 0;
  return plan;
}

Result<std::int64_t> parse_count(std::string_view what, std::string_view text, std::int64_t most) {
  const auto count = trace::base::number_from<std::int64_t>(text);
  if (!count || *count < 1 || *count > most) {
    return fail(ErrorKind::kUsage, "\"" + std::string(text) + "\" is not a number of " +
                                       std::string(what) + ". Give a whole number from 1 to " +
                                       std::to_string(most) + ".");
  }
  return *count;
}

Result<trace::predict::PlanRequest> request_for(const Settings& next,
                                                const ui::state::PlanTarget& target,
                                                ModelLookup& models) {
  trace::predict::PlanRequest request;
  request.settings = next;
  const auto shape = models.find(target.model.empty() ? next.model : target.model);
  if (!shape) return fail(ErrorKind::kMissing, "The model's folder is being read…");
  TRY_ASSIGN(request.shape, *shape);
  if (target.model.empty()) {
    TRY_ASSIGN(request.shape, trace::job::with_classes(request.shape, next));
  }
  TRY_ASSIGN(const auto gpu, trace::predict::find_gpu(target.gpu));
  request.memory_bytes = gpu.memory_bytes();
  request.workspace_bytes = trace::predict::cublas_workspace_bytes(gpu.title);
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.gpus_per_node = target.gpus_per_node;
  request.nodes = target.nodes;
  return request;
}

ui::state::PlanCard plan_card(const Settings& next, const ui::state::PlanTarget& target,
                              ModelLookup& models) {
  ui::state::PlanCard card;
  card.target = target;
  auto plan = request_for(next, target, models).and_then(trace::predict::plan_job);
  if (!plan) {
    card.problem = plan.error().message;
    return card;
  }
  card.remedies = trace::predict::changes_that_would_fit(*plan);
  card.plan = std::move(*plan);
  return card;
}

// Whether it is there, its card says: that takes a look at the disk.
bool looks_like_a_folder(const std::string& model) { return model.find('/') != std::string::npos; }

}  // namespace

std::int64_t usable_bytes_here(const Settings& settings, const Machine& machine) {
  const std::int64_t ranks = std::max<std::int64_t>(settings.ranks, 1);
  if (launch::runs_on_cpu(settings, machine.cuda)) return machine.host_bytes / ranks;
  const auto devices = static_cast<std::int64_t>(machine.cuda.devices.size());
  if (devices == 0) return 0;
  const std::int64_t sharing = (ranks + devices - 1) / devices;  // ranks on the fullest device
  return std::max<std::int64_t>(gpu_bytes(machine.cuda) / sharing - trace::predict::kReservedBytes,
                                1);
}

std::optional<std::int64_t> peak_bytes_here(const Settings& settings, const Machine& machine) {
  const auto shape = trace::job::find_model(settings);
  if (!shape || !trace::job::are_blocks_adapted_alike(*shape, settings)) return std::nullopt;
  return trace::predict::predict_peak_bytes(job_here(settings, *shape, machine));
}

StrategyPlanner::StrategyPlanner(Machine machine, std::function<void()> on_change)
    : machine_(std::move(machine)), models_(std::move(on_change)) {}

bool StrategyPlanner::has_news() {
  if (!model_problem_.empty()) models_.find(estimated_->model);
  return models_.version() != seen_models_;
}

void StrategyPlanner::forget_if_news() {
  if (!has_news()) return;
  model_problem_.clear();
  seen_models_ = models_.version();
  estimated_.reset();
  planned_.reset();
}

std::shared_ptr<const ui::state::StrategyEstimates> StrategyPlanner::estimates(
    const Settings& next) {
  forget_if_news();
  if (estimated_ == next) return estimates_;
  estimated_ = next;
  estimates_ = nullptr;
  model_problem_.clear();
  const auto found_shape = models_.find(next.model);
  if (!found_shape) return nullptr;
  const auto trained = found_shape->and_then(
      [&](const trace::job::ModelShape& each) { return trace::job::with_classes(each, next); });
  if (!trained) {
    model_problem_ = trained.error().message;
    return nullptr;
  }
  const trace::job::ModelShape& shape = *trained;
  // For estimates one block stands for all.
  if (!trace::job::are_blocks_adapted_alike(shape, next)) return nullptr;
  auto found = std::make_shared<ui::state::StrategyEstimates>();
  found->usable_bytes = usable_bytes_here(next, machine_);
  found->device = device_name(next, machine_);
  found->parameters = trace::job::trained_share(shape, next);
  const trace::predict::PlannedJob job = job_here(next, shape, machine_);
  for (const auto& traits : trace::job::strategies()) {
    found->strategies.push_back(estimate(job, traits.strategy, found->usable_bytes));
  }
  estimates_ = std::move(found);
  return estimates_;
}

void StrategyPlanner::complete(ui::state::KnobDraft& draft) {
  draft.estimates = estimates(draft.next);
  if (!model_problem_.empty()) draft.problems.push_back({"model", model_problem_});
}

Result<void> StrategyPlanner::set_target(const ui::state::SetPlanTarget& change) {
  ui::state::PlanTarget target = target_;
  if (change.name == "model") {
    if (!looks_like_a_folder(change.text)) {
      TRY(trace::job::find_planning_model(change.text).map([](const auto&) {}));
    }
    target.model = change.text;
  } else if (change.name == "gpu") {
    TRY(trace::predict::find_gpu(change.text).map([](const auto&) {}));
    target.gpu = change.text;
  } else if (change.name == "gpus_per_node") {
    TRY_ASSIGN(target.gpus_per_node,
               parse_count("GPUs of a machine", change.text, kMostGpusPerNode));
  } else if (change.name == "nodes") {
    TRY_ASSIGN(target.nodes, parse_count("machines", change.text, kMostNodes));
  } else {
    return fail(ErrorKind::kUsage, "A plan has no \"" + change.name + "\".");
  }
  target_ = target;
  return {};
}

std::shared_ptr<const ui::state::PlanCard> StrategyPlanner::card(const Settings& next) {
  if (!is_open_) return nullptr;
  forget_if_news();
  if (target_.model == next.model) target_.model.clear();  // and follow the settings again
  const Question question{next, target_};
  if (planned_ != question) {
    planned_ = question;
    card_ = std::make_shared<const ui::state::PlanCard>(plan_card(next, target_, models_));
  }
  return card_;
}

Machine this_machine() {
  Machine machine;
  machine.cuda = launch::probe_cuda();
  machine.host_bytes = trace::base::memory_bytes();
  machine.host = trace::base::host_name();
  machine.mark = trace::base::machine_mark();
  return machine;
}

}  // namespace shardlens::app::session
