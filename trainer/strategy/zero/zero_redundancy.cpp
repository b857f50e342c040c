#include "trainer/strategy/zero/zero_redundancy.h"

#include <algorithm>
#include <string>

#include "profiler/pytorch/torch_sources.h"
#include "trace/job/units/partition.h"

namespace shardlens::trainer::strategy {

namespace {

constexpr double kMiB = 1024.0 * 1024.0;

comm::CollectiveTag part_tag(std::size_t part, int owner) {
  return comm::named_tag("updated parameters " + std::to_string(part) + " of rank " +
                         std::to_string(owner));
}

}  // namespace

ZeroRedundancy::ZeroRedundancy(const std::vector<tensor::NamedTensor>& parameters,
                               const std::vector<tensor::NamedTensor>& buffers,
                               comm::Communicator& communicator,
                               profiler::recorder::Recorder& recorder,
                               const trace::job::Settings& settings)
    : communicator_(communicator), parts_(static_cast<std::size_t>(communicator.world_size())) {
  std::vector<tensor::NamedTensor> trained, frozen;
  for (const tensor::NamedTensor& each : tensor::without_duplicates(parameters)) {
    (each.tensor.requires_grad() ? trained : frozen).push_back(each);
  }
  partition(trained, settings.bucket_cap_mb);
  for (const tensor::NamedTensor& each : frozen) {
    local_.push_back({each.name, each.tensor.sizes().vec(), 0, each.tensor.numel(), each.tensor,
                      false, communicator.rank() == 0, true});
  }
  // Only now: the Reducer looks at the parameters' memory.
  gradients_ =
      std::make_unique<DataParallel>(parameters, buffers, communicator, recorder, settings);
}

void ZeroRedundancy::partition(const std::vector<tensor::NamedTensor>& trained, double cap_mb) {
  const torch::NoGradGuard no_grad;
  const profiler::memory::MemoryCategoryScope category(trace::model::MemoryCategory::kParameters);
  std::vector<std::int64_t> numels;
  for (const tensor::NamedTensor& each : trained) numels.push_back(each.tensor.numel());
  const auto owners = trace::job::partition_parameters(numels, communicator_.world_size());
  const auto cap = static_cast<std::int64_t>(cap_mb * kMiB / sizeof(float));
  for (int owner = 0; owner < communicator_.world_size(); ++owner) {
    for (auto& indices : trace::job::parts_of_owner(numels, owners, owner, cap)) {
      std::vector<torch::Tensor> values;
      for (const std::size_t i : indices) values.push_back(trained[i].tensor.detach().flatten());
      Part part{std::move(indices), at::cat(values)};
      std::int64_t offset = 0;
      for (const std::size_t i : part.parameters) {
        torch::Tensor tensor = trained[i].tensor;
        tensor.set_data(part.values.narrow(0, offset, numels[i]).view(tensor.sizes()));
        offset += numels[i];
      }
      parts_[static_cast<std::size_t>(owner)].push_back(std::move(part));
    }
  }
  for (std::size_t i = 0; i < trained.size(); ++i) {
    const bool is_own = owners[i] == communicator_.rank();
    local_.push_back({trained[i].name, trained[i].tensor.sizes().vec(), 0, numels[i],
                      trained[i].tensor, is_own, is_own, false});
  }
}

torch::Tensor ZeroRedundancy::sum_over_shards(torch::Tensor local) {
  if (communicator_.world_size() == 1) return local;
  torch::Tensor sum = local.to(communicator_.device());
  communicator_.all_reduce(sum, comm::named_tag("gradient norm"))->wait();
  return sum;
}

void ZeroRedundancy::update(const Optimize& optimize) {
  const auto& own = parts_[static_cast<std::size_t>(communicator_.rank())];
  std::size_t most = 0;
  for (const auto& parts : parts_) most = std::max(most, parts.size());
  std::vector<c10::intrusive_ptr<c10d::Work>> under_way;
  for (std::size_t i = 0; i < most; ++i) {
    if (i < own.size()) optimize(own[i].parameters);
    if (communicator_.world_size() == 1) continue;
    for (std::size_t owner = 0; owner < parts_.size(); ++owner) {
      if (i >= parts_[owner].size()) continue;
      under_way.push_back(communicator_.broadcast(parts_[owner][i].values, static_cast<int>(owner),
                                                  part_tag(i, static_cast<int>(owner))));
    }
  }
  for (const auto& work : under_way) work->wait();
}

}  // namespace shardlens::trainer::strategy
