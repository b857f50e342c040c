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

std::int64_t bytes_of_cap(double mebibytes) { return static_cast<std::int64_t>(mebibytes * kMiB); }

std::int64_t first_bucket_bytes(const trace::job::Settings& settings) {
  return bytes_of_cap(
      trace::model::first_bucket_mb(settings.first_bucket_mb, settings.bucket_cap_mb));
}

// The caps of the plan of the first step, which is one bucket where it will be rebuilt.
std::vector<std::size_t> first_plan_caps(const trace::job::Settings& settings) {
  if (settings.static_graph || !settings.find_unused_parameters) {
    return {static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max())};
  }
  return {static_cast<std::size_t>(first_bucket_bytes(settings)),
          static_cast<std::size_t>(bytes_of_cap(settings.bucket_cap_mb))};
}

// A gradient that was just made is moved into its bucket at once. The Reducer does so only in the
// backward that reduces: those before it would keep whole gradients beside the buckets.
class IntoBucket final : public torch::autograd::PostAccumulateGradHook {
 public:
  // `views`: by parameter; none while buckets are rebuilt.
  IntoBucket(std::shared_ptr<const std::vector<torch::Tensor>> views, std::size_t parameter)
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
  std::shared_ptr<const std::vector<torch::Tensor>> views_;
  std::size_t parameter_;
};

}  // namespace

DataParallel::DataParallel(const std::vector<tensor::NamedTensor>& parameters,
                           const std::vector<tensor::NamedTensor>& buffers,
                           comm::Communicator& communicator, profiler::recorder::Recorder& recorder,
                           const trace::job::Settings& settings)
    : communicator_(communicator), recorder_(recorder), settings_(settings) {
  const std::vector<tensor::NamedTensor> all = tensor::without_duplicates(parameters);
  for (const tensor::NamedTensor& each : all) {
    const bool trained = each.tensor.requires_grad();
    if (trained) parameters_.push_back(each);
    local_parameters_.push_back({each.name, each.tensor.sizes().vec(), 0, each.tensor.numel(),
                                 each.tensor, trained, communicator.rank() == 0, !trained});
    count_gradient_of(each.tensor);
  }
  TORCH_CHECK(!parameters_.empty(), "the model has no parameter to train");
  take_over_values(all, tensor::without_duplicates(buffers));
  build_reducer();
  report_plan(0);
  if (settings.gradient_as_bucket_view) {
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
      torch::autograd::impl::set_post_acc_grad_hooks(parameters_[i].tensor,
                                                     std::make_unique<IntoBucket>(views_, i));
    }
  }
  communicator.set_default_tag(comm::named_tag("unused parameters"));
}

DataParallel::~DataParallel() {
  for (const tensor::NamedTensor& each : parameters_) {
    torch::autograd::impl::set_post_acc_grad_hooks(each.tensor, nullptr);
  }
}

void DataParallel::take_over_values(const std::vector<tensor::NamedTensor>& all_parameters,
                                    const std::vector<tensor::NamedTensor>& buffers) {
  communicator_.set_default_tag(comm::named_tag("parameter shapes"));
  c10d::verify_params_across_processes(communicator_.process_group(),
                                       tensor::tensors_of(parameters_), std::nullopt);

  std::vector<torch::Tensor> values;
  for (const auto* list : {&all_parameters, &buffers}) {
    for (const tensor::NamedTensor& each : *list) values.push_back(each.tensor.detach());
  }
  broadcast_initial_values(communicator_, values);
}

void DataParallel::build_reducer() {
  const std::vector<torch::Tensor> tensors = tensor::tensors_of(parameters_);
  const std::vector<bool> sparse(tensors.size(), false);
  std::unordered_map<std::size_t, std::string> names;
  for (std::size_t i = 0; i < parameters_.size(); ++i) names[i] = parameters_[i].name;

  auto [buckets, limits] =
      c10d::compute_bucket_assignment_by_size(tensors, first_plan_caps(settings_), sparse);
  // Gradients come roughly in the reverse of the order in which parameters are registered.
  std::reverse(buckets.begin(), buckets.end());
  bucket_count_ = buckets.size();

  const profiler::memory::MemoryCategoryScope memory(category_of_buckets());
  reducer_ = std::make_shared<c10d::Reducer>(
      tensors, buckets, communicator_.process_group(), sparse,
      bytes_of_cap(settings_.bucket_cap_mb), settings_.find_unused_parameters,
      settings_.gradient_as_bucket_view, names, first_bucket_bytes(settings_),
      /*skip_all_reduce_unused_params=*/false,
      /*use_python_reducer=*/false, /*bucket_bytes_cap_list=*/std::vector<std::int64_t>{});
  reducer_->register_comm_hook(
      std::make_unique<BucketHook>(communicator_, recorder_, settings_, launched_));
  if (settings_.static_graph) reducer_->set_static_graph();
}

std::unordered_map<const c10::TensorImpl*, std::size_t> DataParallel::indices() const {
  std::unordered_map<const c10::TensorImpl*, std::size_t> index_of;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    index_of[parameters_[i].tensor.unsafeGetTensorImpl()] = i;
  }
  return index_of;
}

trace::model::MemoryCategory DataParallel::category_of_buckets() const {
  return settings_.gradient_as_bucket_view ? trace::model::MemoryCategory::kGradients
                                           : trace::model::MemoryCategory::kCommunication;
}

std::vector<std::vector<std::size_t>> DataParallel::bucket_plan() const {
  const auto index_of = indices();
  std::vector<std::vector<std::size_t>> plan;
  for (const c10d::GradBucket& bucket : reducer_->get_grad_buckets(/*return_zero_tensors=*/false)) {
    std::vector<std::size_t>& indices = plan.emplace_back();
    for (const torch::Tensor& parameter : bucket.getParameters()) {
      indices.push_back(index_of.at(parameter.unsafeGetTensorImpl()));
    }
  }
  return plan;
}

void DataParallel::report_plan(int plan) {
  std::vector<trace::model::Bucket> buckets;
  for (const std::vector<std::size_t>& indices : bucket_plan()) {
    trace::model::Bucket bucket;
    bucket.rank = communicator_.rank();
    bucket.plan = plan;
    bucket.index = static_cast<int>(buckets.size());
    for (const std::size_t i : indices) {
      const auto bytes = static_cast<std::int64_t>(parameters_[i].tensor.nbytes());
      bucket.parameters.push_back(recorder_.intern(parameters_[i].name));
      bucket.parameter_bytes.push_back(bytes);
      bucket.bytes += bytes;
    }
    buckets.push_back(std::move(bucket));
  }
  bucket_count_ = buckets.size();
  recorder_.set_bucket_plan(plan, std::move(buckets));
}

void DataParallel::find_views() {
  if (!settings_.gradient_as_bucket_view || !views_->empty()) return;
  const auto index_of = indices();
  views_->resize(parameters_.size());
  for (const c10d::GradBucket& bucket : reducer_->get_grad_buckets(/*return_zero_tensors=*/false)) {
    const std::vector<torch::Tensor> of_bucket = bucket.getParameters();
    const std::vector<torch::Tensor> gradients = bucket.getGradients();
    for (std::size_t i = 0; i < of_bucket.size(); ++i) {
      (*views_)[index_of.at(of_bucket[i].unsafeGetTensorImpl())] = gradients[i];
    }
  }
}

void DataParallel::rebuild_buckets() {
  const profiler::memory::MemoryCategoryScope memory(category_of_buckets());
  communicator_.set_default_tag(comm::named_tag("bucket order"));
  // The old buckets live as long as their views.
  if (reducer_->should_rebuild_buckets()) views_->clear();
  if (reducer_->rebuild_buckets()) report_plan(1);
  find_views();
  communicator_.set_default_tag(comm::named_tag("unused parameters"));
}

// With a static graph the first backward only counts gradients; PyTorch's _DDPSink then reduces
// all of them once backward is through. Without it nothing is reduced, and nothing complains.
void DataParallel::reduce_at_the_end_of_backward(const torch::Tensor& loss) {
  static_graph_seen_ = true;
  loss.register_hook([kept = reducer_](torch::Tensor) {
    torch::autograd::Engine::get_default_engine().queue_callback(
        [kept] { kept->delay_all_reduce(); });
  });
}

void DataParallel::before_forward() {
  if (reduces()) reducer_->prepare_for_forward();
  rebuild_buckets();
}

void DataParallel::before_backward(const torch::Tensor& loss) {
  awaits_reduction_ = reduces();
  if (!awaits_reduction_) return;
  *launched_ = 0;
  const bool search = settings_.find_unused_parameters && !settings_.static_graph;
  reducer_->prepare_for_backward(search ? std::vector<torch::Tensor>{loss}
                                        : std::vector<torch::Tensor>{});
  if (settings_.static_graph && !static_graph_seen_) reduce_at_the_end_of_backward(loss);
}

void DataParallel::after_backward() {
  if (!std::exchange(awaits_reduction_, false)) return;
  TORCH_CHECK(*launched_ == bucket_count_, "backward ended with ", *launched_, " of ",
              bucket_count_,
              " buckets reduced: some parameters took no part in the loss. Set "
              "find_unused_parameters=true.");
}

void DataParallel::zero_gradients() {
  for (const tensor::NamedTensor& each : parameters_) each.tensor.mutable_grad().reset();
}

}  // namespace shardlens::trainer::strategy
