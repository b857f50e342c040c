#include "trainer/strategy/fsdp/fully_sharded.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "profiler/pytorch/torch_sources.h"
#include "trainer/strategy/initial_values.h"
#include "trainer/tensor/tensor_memory.h"

namespace shardlens::trainer::strategy {

namespace {

comm::CollectiveTag named_tag(std::string name) {
  return {trace::model::TagKind::kNamed, -1, std::move(name)};
}

// Passes its input on, and calls back once the gradient of that input is known: by then all
// gradients of what came after it in the unit are there, too.
struct AfterBackward : torch::autograd::Function<AfterBackward> {
  static constexpr const char* kUnit = "unit";

  static torch::Tensor forward(torch::autograd::AutogradContext* context,
                               const torch::Tensor& input, ShardedUnit* unit) {
    context->saved_data[kUnit] = reinterpret_cast<std::int64_t>(unit);
    return input;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    reinterpret_cast<ShardedUnit*>(context->saved_data[kUnit].toInt())->after_backward();
    return {gradients[0], torch::Tensor()};
  }
};

// "float32", "float32 and uint8"
std::string gathered_types(const ShardedUnit& unit) {
  std::vector<std::string_view> types;
  std::string text;
  for (const FlatBuffer& buffer : unit.buffers()) {
    const std::string_view type = comm::to_text(buffer.gathered_type());
    if (std::ranges::find(types, type) != types.end()) continue;
    types.push_back(type);
    text += (text.empty() ? "" : " and ") + std::string(type);
  }
  return text;
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
    unit.after_backward = [this, &unit] { after_unit_backward(unit); };
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

void FullySharded::set_require_sync(bool require_sync) { require_sync_ = require_sync; }

void FullySharded::before_forward() {
  in_backward_ = false;
  entered_before_ = std::exchange(entered_, {});
  await_backward_.clear();
  retired_.drop();
  // Shards have just been updated on the current stream.
  streams_.let_gather_stream_wait();
  ShardedUnit& root = *units_.front();
  entered_.push_back(root.index());
  gather(root, false);
  root.wait();
  root.awaits_backward = torch::GradMode::is_enabled();
  current_unit_ = root.index();
  if (options_.forward_prefetch) prefetch_after(root, entered_before_);
}

std::string FullySharded::current_unit() const {
  return current_unit_ < 0 ? "" : units_[static_cast<std::size_t>(current_unit_)]->name();
}

torch::Tensor FullySharded::run_forward(ShardedUnit& unit, const torch::Tensor& input,
                                        const model::Layer::Forward& inner) {
  if (!in_backward_) entered_.push_back(unit.index());
  current_unit_ = unit.index();
  gather(unit, false);
  unit.wait();
  if (options_.forward_prefetch && !in_backward_) prefetch_after(unit, entered_before_);

  const bool has_backward = torch::GradMode::is_enabled();
  const bool tells = has_backward && input.requires_grad();
  if (has_backward) unit.awaits_backward = true;
  torch::Tensor output = inner(tells ? AfterBackward::apply(input, &unit) : input);
  if (options_.frees_after_forward) free(unit);
  if (has_backward && output.requires_grad()) {
    await_backward_.push_back(unit.index());
    output.register_hook([this, &unit](const torch::Tensor&) { before_unit_backward(unit); });
  }
  return output;
}

void FullySharded::before_backward(const torch::Tensor& /*loss*/) {
  in_backward_ = true;
  retired_.drop();
  if (options_.backward_prefetch == trace::job::BackwardPrefetch::kPre) prefetch_for_backward();
}

void FullySharded::before_unit_backward(ShardedUnit& unit) {
  current_unit_ = unit.index();
  // Autograd goes through forward in reverse: what left it after this unit has had its backward, or
  // has none.
  const auto begun = std::find(await_backward_.rbegin(), await_backward_.rend(), unit.index());
  if (begun != await_backward_.rend()) {
    await_backward_.erase(std::prev(begun.base()), await_backward_.end());
  }
  gather(unit, false);
  unit.wait();
  if (options_.backward_prefetch == trace::job::BackwardPrefetch::kPre) prefetch_for_backward();
}

void FullySharded::after_unit_backward(ShardedUnit& unit) {
  unit.awaits_backward = false;
  if (options_.backward_prefetch == trace::job::BackwardPrefetch::kPost) prefetch_for_backward();
  // Without synchronisation shard_grad_op keeps what it has gathered for the next micro-batch.
  if (require_sync_ || options_.frees_after_forward) free(unit);
  if (!require_sync_) return;
  for (FlatBuffer& buffer : unit.buffers()) {
    if (!buffer.is_trained()) continue;
    recorder_.unit_ready(unit.index());
    reducer_->launch(buffer, unit.tag("reduce"));
  }
}

void FullySharded::after_backward() {
  await_backward_.clear();
  // The root, and units whose input needs no gradient.
  for (auto unit = units_.rbegin(); unit != units_.rend(); ++unit) {
    if ((*unit)->awaits_backward) after_unit_backward(**unit);
  }
  current_unit_ = -1;
  // What was gathered ahead for a use that did not come must not outlive the update, either.
  if (require_sync_ || options_.frees_after_forward) free_all();
  if (!require_sync_) return;
  reducer_->finish();
  // The host's optimizer reads gradients, and writes shards that gathers have read.
  if (options_.cpu_offload) streams_.synchronize();
  for (const auto& unit : units_) {
    for (FlatBuffer& buffer : unit->buffers()) buffer.publish_gradients();
  }
}

void FullySharded::after_evaluation() { free_all(); }

void FullySharded::gather(ShardedUnit& unit, bool ahead) {
  if (!unit.is_free()) return;
  limiter_.before_gather();
  std::string what = in_backward_ ? "backward gather" : "forward gather";
  if (ahead) what += ", prefetched";
  unit.gather(gather_group_, streams_, what);
}

void FullySharded::free(ShardedUnit& unit) {
  if (unit.is_free()) return;
  retired_.replace(unit.release());
  if (!keeps_retired_unit()) retired_.drop();
  limiter_.unit_was_freed(streams_);
}

void FullySharded::free_all() {
  for (const auto& unit : units_) free(*unit);
}

bool FullySharded::keeps_retired_unit() const {
  const bool all_were_entered = entered_.size() >= units_.size();
  return !in_backward_ && !options_.forward_prefetch && !all_were_entered;
}

void FullySharded::prefetch_after(const ShardedUnit& unit, const std::vector<int>& order) {
  const auto here = std::ranges::find(order, unit.index());
  if (here == order.end() || here + 1 == order.end()) return;
  gather(*units_[static_cast<std::size_t>(*(here + 1))], true);
}

void FullySharded::prefetch_for_backward() {
  if (await_backward_.empty()) return;
  gather(*units_[static_cast<std::size_t>(await_backward_.back())], true);
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
    world_.all_reduce(both, named_tag("gradient norm"))->wait();
    if (!one_group && shard_group_ != nullptr) {
      shard_group_->all_reduce(norm, named_tag("gradient norm"))->wait();
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
