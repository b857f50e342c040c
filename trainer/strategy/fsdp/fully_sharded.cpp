#include "trainer/strategy/fsdp/fully_sharded.h"

#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "profiler/pytorch/torch_sources.h"
#include "trace/base/text.h"
#include "trace/model/events.h"
#include "trainer/strategy/strategy.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::strategy {

namespace {

// Passes its input on, and says so once the gradient of that input is known: by then all gradients
// of what came after it in the unit are there, too.
struct AfterBackward : torch::autograd::Function<AfterBackward> {
  static constexpr const char *kSchedule = "schedule", *kUnit = "unit";

  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, trace::job::UnitSchedule* schedule,
                               std::int64_t unit) {
    context->saved_data[kSchedule] = reinterpret_cast<std::int64_t>(schedule);
    context->saved_data[kUnit] = unit;
    return input;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    auto* schedule =
        reinterpret_cast<trace::job::UnitSchedule*>(context->saved_data[kSchedule].toInt());
    schedule->leave_backward(static_cast<int>(context->saved_data[kUnit].toInt()));
    return {gradients[0], torch::Tensor(), torch::Tensor()};
  }
};

// "float32", "float32 and uint8"
std::string gathered_types(const ShardedUnit& unit) {
  std::vector<std::string> types;
  for (const FlatBuffer& buffer : unit.buffers()) {
    const std::string type = comm::name_of(buffer.gathered_type());
    if (std::ranges::find(types, type) == types.end()) types.push_back(type);
  }
  return trace::base::joined(types, " and ");
}

}  // namespace

FullySharded::FullySharded(model::Model& model, comm::Communicator& world,
                           profiler::recorder::Recorder& recorder,
                           const FullyShardedOptions& options, model::ParameterSource* source)
    : options_(options),
      world_(world),
      recorder_(recorder),
      streams_(world.device(), options.high_priority_streams),
      retired_(streams_),
      limiter_(options.limit_all_gathers) {
  connect_groups();
  reducer_.emplace(shard_group_, replicas_, streams_);
  if (options_.sync_module_states) share_initial_values(model);
  cast_buffers(model);
  build_units(model, source);
  schedule_.emplace(units_.size(), options_.schedule, static_cast<trace::job::UnitActions&>(*this));
  report_units();
}

FullySharded::~FullySharded() = default;

void FullySharded::connect_groups() {
  const int ranks = world_.world_size(), size = options_.shard_group_size;
  TORCH_CHECK(size >= 1 && ranks % size == 0, "shard_group_size ", size, " does not divide ", ranks,
              " ranks");
  const int first = world_.rank() / size * size;
  std::vector<int> shard_ranks(static_cast<std::size_t>(size));
  std::iota(shard_ranks.begin(), shard_ranks.end(), first);
  std::vector<int> replica_ranks;
  for (int rank = world_.rank() % size; rank < ranks; rank += size) replica_ranks.push_back(rank);

  auto group_of = [&](const char* name, const std::vector<int>& members) -> comm::Communicator* {
    if (members.size() == 1) return nullptr;
    if (static_cast<int>(members.size()) == ranks) return &world_;
    return groups_.emplace_back(world_.create_group(name, members)).get();
  };
  shard_group_ = group_of("shard", shard_ranks);
  replicas_ = group_of("replicate", replica_ranks);
  gather_group_ = shard_group_;
  if (options_.separate_communicators && shard_group_ != nullptr) {
    gather_group_ = groups_.emplace_back(world_.create_group("gather", shard_ranks)).get();
  }
}

void FullySharded::share_initial_values(model::Model& model) {
  std::vector<torch::Tensor> values;
  for (const auto& list : {tensor::named_parameters_of(model), tensor::named_buffers_of(model)}) {
    for (const tensor::NamedTensor& each : list) {
      // What is read from a source is the same for all.
      if (tensor::has_memory(each.tensor)) values.push_back(each.tensor.detach());
    }
  }
  broadcast_initial_values(world_, values);
}

void FullySharded::cast_buffers(model::Model& model) const {
  if (!options_.buffer_dtype) return;
  for (tensor::NamedTensor& buffer : tensor::named_buffers_of(model)) {
    if (buffer.tensor.is_floating_point()) {
      buffer.tensor.set_data(buffer.tensor.to(*options_.buffer_dtype));
    }
  }
}

void FullySharded::build_units(model::Model& model, model::ParameterSource* source) {
  FlatBufferOptions flat;
  flat.device = world_.device();
  flat.shard_device = options_.cpu_offload ? torch::Device(torch::kCPU) : flat.device;
  flat.param_dtype = options_.param_dtype;
  flat.reduce_dtype = options_.reduce_dtype;
  flat.shard_count = options_.shard_group_size;
  flat.shard_rank = world_.rank() % options_.shard_group_size;
  flat.is_primary = world_.rank() < options_.shard_group_size;
  for (const UnitPlan& plan : plan_units(model, options_.wrap_policy, options_.min_num_params)) {
    const int index = static_cast<int>(units_.size());
    auto& unit = *units_.emplace_back(std::make_unique<ShardedUnit>(index, plan, flat, source));
    if (plan.layer != nullptr) {
      plan.layer->wrap_forward(
          [this, &unit](const torch::Tensor& input, const model::Layer::Forward& inner) {
            return run_forward(unit, input, inner);
          });
    }
    for (const FlatBuffer& buffer : unit.buffers()) {
      const auto& parts = buffer.local_parameters();
      local_.insert(local_.end(), parts.begin(), parts.end());
    }
  }
}

void FullySharded::report_units() {
  std::vector<trace::model::Unit> units;
  std::vector<trace::model::UnitParameter> parameters;
  for (const auto& unit : units_) {
    trace::model::Unit& row = units.emplace_back();
    row.index = unit->index();
    row.name = recorder_.intern(unit->name());
    row.data_type = recorder_.intern(gathered_types(*unit));
    row.shard_count = options_.shard_group_size;
    for (const FlatBuffer& buffer : unit->buffers()) {
      row.bytes += buffer.bytes();
      row.shard_bytes += buffer.shard_bytes();
      if (buffer.is_trained()) row.reduced_bytes += buffer.reduced_bytes();
      for (const tensor::NamedTensor& parameter : buffer.parameters()) {
        parameters.push_back({0, unit->index(), recorder_.intern(parameter.name),
                              parameter.tensor.numel() *
                                  static_cast<std::int64_t>(parameter.tensor.element_size())});
      }
    }
  }
  recorder_.set_units(std::move(units), std::move(parameters));
}

void FullySharded::set_require_sync(bool require_sync) {
  schedule_->set_require_sync(require_sync);
}

void FullySharded::before_forward() {
  retired_.drop();
  // Shards have just been updated on the current stream.
  streams_.let_gather_stream_wait();
  current_unit_ = 0;
  schedule_->begin_forward(torch::GradMode::is_enabled());
}

std::string FullySharded::current_unit() const {
  return current_unit_ < 0 ? "" : units_[static_cast<std::size_t>(current_unit_)]->name();
}

torch::Tensor FullySharded::run_forward(ShardedUnit& unit, const torch::Tensor& input,
                                        const model::Layer::Forward& inner) {
  const int index = current_unit_ = unit.index();
  const bool has_backward = torch::GradMode::is_enabled();
  schedule_->enter_forward(index, has_backward);
  const bool tells = has_backward && input.requires_grad();
  torch::Tensor output = inner(tells ? AfterBackward::apply(input, &*schedule_, index) : input);
  const bool awaits_backward = has_backward && output.requires_grad();
  schedule_->leave_forward(index, awaits_backward);
  if (awaits_backward) {
    output.register_hook([this, index](const torch::Tensor&) {
      current_unit_ = index;
      schedule_->enter_backward(index);
    });
  }
  return output;
}

void FullySharded::before_backward(const torch::Tensor& /*loss*/) {
  retired_.drop();
  schedule_->begin_backward();
}

void FullySharded::after_backward() {
  schedule_->end_backward();
  current_unit_ = -1;
  if (!schedule_->requires_sync()) return;
  reducer_->finish();
  // The host's optimizer reads gradients, and writes shards that gathers have read.
  if (options_.cpu_offload) streams_.synchronize();
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) buffer.publish_gradients();
  }
}

void FullySharded::after_evaluation() { schedule_->free_all(); }

void FullySharded::gather(int unit, bool ahead) {
  limiter_.before_gather();
  std::string what = schedule_->is_in_backward() ? "backward gather" : "forward gather";
  if (ahead) what += trace::model::kPrefetchedEnding;
  at(unit).gather(gather_group_, streams_, what);
}

void FullySharded::wait(int unit) { at(unit).wait(); }

void FullySharded::free(int unit) {
  retired_.replace(at(unit).release());
  if (!schedule_->overlaps_next_gather()) retired_.drop();
  limiter_.unit_was_freed(streams_);
}

void FullySharded::reduce(int unit) {
  for (FlatBuffer& buffer : at(unit).buffers()) {
    if (!buffer.is_trained()) continue;
    recorder_.unit_ready(unit);
    reducer_->launch(buffer, at(unit).tag("reduce"));
  }
}

void FullySharded::accumulate(int unit) {
  for (FlatBuffer& buffer : at(unit).buffers()) {
    if (buffer.is_trained()) buffer.accumulate_gradients();
  }
}

std::vector<float> FullySharded::take_used() {
  std::vector<float> used;
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) {
      if (!buffer.is_trained()) continue;
      const auto part = buffer.take_used();
      used.insert(used.end(), part.begin(), part.end());
    }
  }
  return used;
}

void FullySharded::drop_unused(const float* used_by) {
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) {
      if (!buffer.is_trained()) continue;
      buffer.drop_unused(used_by);
      used_by += buffer.parameters().size();
    }
  }
}

torch::Tensor FullySharded::sum_over_shards(torch::Tensor local) {
  const std::vector<float> used = take_used();
  // Then none is unused on all ranks, and nobody need wait for the device to say so.
  const bool uses_all = std::ranges::all_of(used, [](float each) { return each > 0; });
  if (!all_used_.defined()) {
    all_used_ = torch::ones({static_cast<std::int64_t>(used.size())}, world_.device());
  }
  const bool one_group = replicas_ == nullptr;
  // One collective carries both where all ranks share in the same shards.
  torch::Tensor both = at::cat({local.to(world_.device(), torch::kFloat32),
                                uses_all ? all_used_ : torch::tensor(used).to(world_.device())});
  torch::Tensor norm = both.narrow(0, 0, 1).clone();
  if (world_.world_size() > 1) {
    world_.all_reduce(both, comm::named_tag("gradient norm"))->wait();
    if (!one_group && shard_group_ != nullptr) {
      shard_group_->all_reduce(norm, comm::named_tag("gradient norm"))->wait();
    }
  }
  if (one_group) norm = both.narrow(0, 0, 1);
  if (!uses_all) {
    const torch::Tensor counts = both.cpu();
    drop_unused(counts.const_data_ptr<float>() + 1);
  }
  return norm.to(local.device());
}

void FullySharded::update(const Optimize& optimize) {
  optimize(optimized_parameters(local_));
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) {
      if (buffer.is_trained()) buffer.shard_was_updated();
    }
  }
}

void FullySharded::zero_gradients() {
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) buffer.drop_gradients();
  }
}

}  // namespace shardlens::trainer::strategy
