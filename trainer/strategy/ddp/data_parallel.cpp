#include "trainer/strategy/ddp/data_parallel.h"

#include <torch/csrc/autograd/engine.h>

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "profiler/pytorch/torch_sources.h"
#include "trace/model/acting_settings.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::strategy {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

using Plan = std::vector<std::vector<std::size_t>>;

std::int64_t bytes_of_cap(double mebibytes) { return static_cast<std::int64_t>(mebibytes * kMiB); }

std::int64_t first_bucket_bytes(const DataParallelOptions& options) {
  return bytes_of_cap(
      trace::model::first_bucket_mb(options.first_bucket_mb, options.bucket_cap_mb));
}

// The caps of the plan of the first step, which is one bucket where it will be rebuilt.
std::vector<std::size_t> first_plan_caps(const DataParallelOptions& options) {
  if (options.static_graph || !options.find_unused_parameters) {
    return {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())};
  }
  return {static_cast<std::size_t>(first_bucket_bytes(options)),
          static_cast<std::size_t>(bytes_of_cap(options.bucket_cap_mb))};
}

// A gradient that was just made is moved into its bucket at once. The Reducer does so only in the
// backward that reduces: those before it would keep whole gradients beside the buckets.
class IntoBucket final : public torch::autograd::PostAccumulateGradHook {
 public:
  using Views = std::vector<torch::Tensor>;  // by parameter; none while buckets are rebuilt
  IntoBucket(std::shared_ptr<const Views> views, std::size_t parameter)
      : views_(std::move(views)), parameter_(parameter) {}

  void operator()(const torch::Tensor& parameter) override {
    if (views_->empty()) return;
    const torch::NoGradGuard no_gradients;
    torch::Tensor& gradient = parameter.mutable_grad();
    const torch::Tensor& view = (*views_)[parameter_];
    if (!gradient.defined() || gradient.is_alias_of(view)) return;
    view.copy_(gradient);
    gradient = view;
  }

 private:
  std::shared_ptr<const Views> views_;
  std::size_t parameter_;
};

}  // namespace

struct DataParallel::State {
  State(comm::Communicator& with, profiler::recorder::Recorder& into,
        const DataParallelOptions& chosen)
      : communicator(with), recorder(into), options(chosen) {}

  void take_over_values(const std::vector<tensor::NamedTensor>& all_parameters,
                        const std::vector<tensor::NamedTensor>& buffers);
  void build_reducer();
  void report_plan(int plan);
  std::unordered_map<const c10::TensorImpl*, std::size_t> indices() const;
  Plan current_plan() const;
  void find_views();
  void rebuild_buckets();
  // The first backward of a static graph always reduces: the Reducer counts in it how often each
  // gradient comes, up to its first reduction. With two backwards counted it would wait for two
  // ever after, and never reduce again (PyTorch's no_sync() has this fault).
  bool reduces() const { return require_sync || (options.static_graph && !static_graph_seen); }
  void reduce_at_the_end_of_backward(const torch::Tensor& loss);

  comm::Communicator& communicator;
  profiler::recorder::Recorder& recorder;
  DataParallelOptions options;
  std::vector<tensor::NamedTensor> parameters;
  std::vector<LocalParameter> local_parameters;  // frozen ones, too
  std::shared_ptr<std::size_t> launched = std::make_shared<std::size_t>(0);
  std::shared_ptr<c10d::Reducer> reducer;
  std::shared_ptr<IntoBucket::Views> views = std::make_shared<IntoBucket::Views>();
  std::size_t bucket_count = 0;
  bool require_sync = true;
  bool awaits_reduction = false;
  bool static_graph_seen = false;
};

void DataParallel::State::take_over_values(const std::vector<tensor::NamedTensor>& all_parameters,
                                           const std::vector<tensor::NamedTensor>& buffers) {
  communicator.set_default_tag(comm::named_tag("parameter shapes"));
  c10d::verify_params_across_processes(communicator.process_group(), tensor::tensors_of(parameters),
                                       std::nullopt);

  std::vector<torch::Tensor> values;
  for (const auto* list : {&all_parameters, &buffers}) {
    for (const tensor::NamedTensor& each : *list) values.push_back(each.tensor.detach());
  }
  broadcast_initial_values(communicator, values);
}

void DataParallel::State::build_reducer() {
  const std::vector<torch::Tensor> tensors = tensor::tensors_of(parameters);
  const std::vector<bool> sparse(tensors.size(), false);
  std::unordered_map<std::size_t, std::string> names;
  for (std::size_t i = 0; i < parameters.size(); ++i) names[i] = parameters[i].name;

  auto [buckets, limits] =
      c10d::compute_bucket_assignment_by_size(tensors, first_plan_caps(options), sparse);
  // Gradients come roughly in the reverse of the order in which parameters are registered.
  std::reverse(buckets.begin(), buckets.end());
  bucket_count = buckets.size();

  const profiler::memory::MemoryCategoryScope memory(
      options.gradient_as_bucket_view ? trace::model::MemoryCategory::kGradients
                                      : trace::model::MemoryCategory::kCommunication);
  reducer = std::make_shared<c10d::Reducer>(
      tensors, buckets, communicator.process_group(), sparse, bytes_of_cap(options.bucket_cap_mb),
      options.find_unused_parameters, options.gradient_as_bucket_view, names,
      first_bucket_bytes(options), /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
  reducer->register_comm_hook(std::make_unique<BucketHook>(
      communicator, recorder,
      BucketHookOptions{options.hook, options.overlap_comm, options.communication}, launched));
  if (options.static_graph) reducer->set_static_graph();
}

std::unordered_map<const c10::TensorImpl*, std::size_t> DataParallel::State::indices() const {
  std::unordered_map<const c10::TensorImpl*, std::size_t> index_of;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    index_of[parameters[i].tensor.unsafeGetTensorImpl()] = i;
  }
  return index_of;
}

Plan DataParallel::State::current_plan() const {
  const auto index_of = indices();
  Plan plan;
  for (const c10d::GradBucket& bucket : reducer->get_grad_buckets(/*return_zero_tensors=*/false)) {
    std::vector<std::size_t>& indices = plan.emplace_back();
    for (const torch::Tensor& parameter : bucket.getParameters()) {
      indices.push_back(index_of.at(parameter.unsafeGetTensorImpl()));
    }
  }
  return plan;
}

void DataParallel::State::report_plan(int plan) {
  std::vector<trace::model::Bucket> buckets;
  for (const std::vector<std::size_t>& indices : current_plan()) {
    trace::model::Bucket bucket;
    bucket.rank = communicator.rank();
    bucket.plan = plan;
    bucket.index = static_cast<int>(buckets.size());
    for (const std::size_t i : indices) {
      const auto bytes = static_cast<std::int64_t>(parameters[i].tensor.nbytes());
      bucket.parameters.push_back(recorder.intern(parameters[i].name));
      bucket.parameter_bytes.push_back(bytes);
      bucket.bytes += bytes;
    }
    buckets.push_back(std::move(bucket));
  }
  bucket_count = buckets.size();
  recorder.set_bucket_plan(plan, std::move(buckets));
}

void DataParallel::State::find_views() {
  if (!options.gradient_as_bucket_view || !views->empty()) return;
  const auto index_of = indices();
  views->resize(parameters.size());
  for (const c10d::GradBucket& bucket : reducer->get_grad_buckets(/*return_zero_tensors=*/false)) {
    const std::vector<torch::Tensor> of_bucket = bucket.getParameters();
    const std::vector<torch::Tensor> gradients = bucket.getGradients();
    for (std::size_t i = 0; i < of_bucket.size(); ++i) {
      (*views)[index_of.at(of_bucket[i].unsafeGetTensorImpl())] = gradients[i];
    }
  }
}

void DataParallel::State::rebuild_buckets() {
  const profiler::memory::MemoryCategoryScope memory(
      options.gradient_as_bucket_view ? trace::model::MemoryCategory::kGradients
                                      : trace::model::MemoryCategory::kCommunication);
  communicator.set_default_tag(comm::named_tag("bucket order"));
  // The old buckets live as long as their views.
  if (reducer->should_rebuild_buckets()) views->clear();
  if (reducer->rebuild_buckets()) report_plan(1);
  find_views();
  communicator.set_default_tag(comm::named_tag("unused parameters"));
}

// With a static graph the first backward only counts gradients; PyTorch's _DDPSink then reduces
// all of them once backward is through. Without it nothing is reduced, and nothing complains.
void DataParallel::State::reduce_at_the_end_of_backward(const torch::Tensor& loss) {
  static_graph_seen = true;
  loss.register_hook([kept = reducer](torch::Tensor) {
    torch::autograd::Engine::get_default_engine().queue_callback(
        [kept] { kept->delay_all_reduce(); });
  });
}

DataParallel::DataParallel(std::vector<tensor::NamedTensor> parameters,
                           std::vector<tensor::NamedTensor> buffers,
                           comm::Communicator& communicator, profiler::recorder::Recorder& recorder,
                           const DataParallelOptions& options)
    : state_(std::make_unique<State>(communicator, recorder, options)) {
  const std::vector<tensor::NamedTensor> all = tensor::without_duplicates(parameters);
  for (const tensor::NamedTensor& each : all) {
    const bool trained = each.tensor.requires_grad();
    if (trained) state_->parameters.push_back(each);
    state_->local_parameters.push_back({each.name, each.tensor.sizes().vec(), 0,
                                        each.tensor.numel(), each.tensor, trained,
                                        communicator.rank() == 0, !trained});
    count_gradient_of(each.tensor);
  }
  TORCH_CHECK(!state_->parameters.empty(), "the model has no parameter to train");
  state_->take_over_values(all, tensor::without_duplicates(buffers));
  state_->build_reducer();
  state_->report_plan(0);
  if (options.gradient_as_bucket_view) {
    for (std::size_t i = 0; i < state_->parameters.size(); ++i) {
      torch::autograd::impl::set_post_acc_grad_hooks(
          state_->parameters[i].tensor, std::make_unique<IntoBucket>(state_->views, i));
    }
  }
  communicator.set_default_tag(comm::named_tag("unused parameters"));
}

DataParallel::~DataParallel() {
  for (const tensor::NamedTensor& each : state_->parameters) {
    torch::autograd::impl::set_post_acc_grad_hooks(each.tensor, nullptr);
  }
}

void DataParallel::set_require_sync(bool require_sync) { state_->require_sync = require_sync; }

void DataParallel::before_forward() {
  if (state_->reduces()) state_->reducer->prepare_for_forward();
  state_->rebuild_buckets();
}

void DataParallel::before_backward(const torch::Tensor& loss) {
  state_->awaits_reduction = state_->reduces();
  if (!state_->awaits_reduction) return;
  *state_->launched = 0;
  const bool search = state_->options.find_unused_parameters && !state_->options.static_graph;
  state_->reducer->prepare_for_backward(search ? std::vector<torch::Tensor>{loss}
                                               : std::vector<torch::Tensor>{});
  if (state_->options.static_graph && !state_->static_graph_seen) {
    state_->reduce_at_the_end_of_backward(loss);
  }
}

void DataParallel::after_backward() {
  if (!std::exchange(state_->awaits_reduction, false)) return;
  TORCH_CHECK(*state_->launched == state_->bucket_count, "backward ended with ", *state_->launched,
              " of ", state_->bucket_count,
              " buckets reduced: some parameters took no part in the loss. Set "
              "find_unused_parameters=true.");
}

std::span<const LocalParameter> DataParallel::local_parameters() const {
  return state_->local_parameters;
}

void DataParallel::update(const Optimize& optimize) {
  optimize(optimized_parameters(state_->local_parameters));
}

void DataParallel::zero_gradients() {
  for (const tensor::NamedTensor& each : state_->parameters) each.tensor.mutable_grad().reset();
}

const std::vector<tensor::NamedTensor>& DataParallel::parameters() const {
  return state_->parameters;
}

std::vector<std::vector<std::size_t>> DataParallel::bucket_plan() const {
  return state_->current_plan();
}

}  // namespace shardlens::trainer::strategy
