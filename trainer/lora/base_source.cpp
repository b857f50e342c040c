#include "trainer/lora/base_source.h"

#include <algorithm>

#include "trace/job/shape/lora.h"
#include "trainer/lora/adapters.h"
#include "trainer/tensor/nf4.h"

namespace shardlens::trainer::lora {

namespace {

using trace::job::kNf4BlockBytes;
using trace::job::kNf4BlockValues;

constexpr std::int64_t kBlocksAtATime = 32768;  // 8 MiB in fp32

}  // namespace

BaseSource::BaseSource(const model::Model& model, model::ParameterSource& values)
    : values_(values) {
  for (const NamedLinear& each : linear_layers_of(model)) {
    numels_[each.name + ".weight"] = c10::multiply_integers(each.layer->matrix_sizes());
  }
}

trace::base::Result<void> BaseSource::read(const std::string& name, std::int64_t begin,
                                           const torch::Tensor& into) {
  if (into.scalar_type() != torch::kUInt8) return values_.read(name, begin, into);
  TORCH_CHECK(begin % kNf4BlockBytes == 0 && into.numel() % kNf4BlockBytes == 0, "a range of ",
              name, " cuts a block of 4-bit values");
  const std::int64_t all = numels_.at(name);
  const torch::Tensor bytes = into.flatten();
  for (std::int64_t done = 0; done < bytes.numel();) {
    const std::int64_t count = std::min(kBlocksAtATime * kNf4BlockBytes, bytes.numel() - done);
    const std::int64_t first = (begin + done) / kNf4BlockBytes * kNf4BlockValues;
    const std::int64_t last = std::min(all, first + count / kNf4BlockBytes * kNf4BlockValues);
    const torch::Tensor values =
        torch::empty({last - first}, torch::dtype(torch::kFloat32).device(into.device()));
    TRY(values_.read(name, first, values));
    bytes.narrow(0, done, count).copy_(tensor::quantize_nf4(values));
    done += count;
  }
  return {};
}

}  // namespace shardlens::trainer::lora
