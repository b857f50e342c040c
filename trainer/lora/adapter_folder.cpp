#include "trainer/lora/adapter_folder.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "trace/job/shape/lora.h"
#include "trainer/checkpoint/disk_file.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/safetensors.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/checkpoint/whole_folder.h"
#include "trainer/tensor/kept_matrix.h"

namespace shardlens::trainer::lora {

namespace {

namespace fs = std::filesystem;

// What peft puts before the names of the model it wraps.
constexpr const char* kPeftPrefix = "base_model.model.";

std::string last_part(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string factor_of(const std::string& layer, const char* factor) {
  return layer + "." + factor + ".weight";
}

std::vector<NamedLinear> adapted_layers_of(const model::Model& model,
                                           const AdapterValues& trained) {
  std::vector<NamedLinear> layers = linear_layers_of(model);
  std::erase_if(layers, [&](const NamedLinear& each) {
    return !trained.contains(factor_of(each.name, kLoraA));
  });
  return layers;
}

// As short as peft writes them, if they then mean these layers and no others.
std::vector<std::string> target_modules(const model::Model& model,
                                        std::span<const NamedLinear> adapted) {
  std::vector<std::string> whole, kinds;
  for (const NamedLinear& each : adapted) {
    whole.push_back(each.name);
    const std::string kind = last_part(each.name);
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  const auto is_meant = [&](const std::string& name) {
    return std::ranges::find(kinds, last_part(name)) != kinds.end();
  };
  std::size_t meant = 0;
  for (const auto& module : model.named_modules()) {
    const bool is_layer = dynamic_cast<model::LinearLayer*>(module.value().get()) != nullptr;
    if (is_layer && is_meant(module.key())) ++meant;
  }
  return meant == whole.size() ? kinds : whole;
}

// The modules that are trained beside adapters: of a head the outermost, as peft names it.
std::vector<std::string> saved_modules(const AdapterValues& trained) {
  std::vector<std::string> modules;
  for (const auto& [name, value] : trained) {
    if (is_adapter_parameter(name)) continue;
    const bool is_head = trace::job::is_trained_head(name);
    const std::string module = name.substr(0, is_head ? name.find('.') : name.rfind('.'));
    if (std::ranges::find(modules, module) == modules.end()) modules.push_back(module);
  }
  return modules;
}

std::string config_text(const AdapterDescription& description, const model::Model& model,
                        const AdapterValues& trained) {
  const auto layers = adapted_layers_of(model, trained);
  nlohmann::ordered_json config;
  config["auto_mapping"] = nullptr;
  config["base_model_name_or_path"] = nullptr;
  if (!description.base_model.empty()) config["base_model_name_or_path"] = description.base_model;
  config["bias"] = "none";
  config["fan_in_fan_out"] = !layers.empty() && layers.front().layer->is_transposed();
  config["inference_mode"] = true;
  config["init_lora_weights"] = true;
  config["lora_alpha"] = description.lora.alpha;
  config["lora_dropout"] = description.lora.dropout;
  const auto modules = saved_modules(trained);
  config["modules_to_save"] = nullptr;
  if (!modules.empty()) config["modules_to_save"] = modules;
  config["peft_type"] = "LORA";
  config["r"] = description.lora.rank;
  config["revision"] = nullptr;
  config["target_modules"] = target_modules(model, layers);
  config["task_type"] = description.classifies ? "SEQ_CLS" : "CAUSAL_LM";
  config["use_dora"] = false;
  config["use_rslora"] = false;
  return config.dump(2) + "\n";
}

trace::base::Result<void> write_files(const fs::path& folder, const std::string& config,
                                      const AdapterValues& trained) {
  std::vector<checkpoint::TensorBytes> tensors;
  for (const auto& [name, value] : trained) {
    tensors.push_back({{kPeftPrefix + name, checkpoint::DataType::kF32, value.sizes().vec()},
                       checkpoint::bytes_of_tensor(value)});
  }
  TRY(checkpoint::write_safetensors(folder / "adapter_model.safetensors", tensors,
                                    {{"format", "pt"}}));
  return checkpoint::write_file(folder / "adapter_config.json", config);
}

trace::base::Result<void> write_adapter(const fs::path& folder, const std::string& config,
                                        const AdapterValues& trained) {
  TRY_ASSIGN(const fs::path unfinished, checkpoint::begin_folder(folder));
  auto written = write_files(unfinished, config, trained);
  if (written) written = checkpoint::publish_folder(unfinished, folder);
  if (!written) checkpoint::abandon_folder(unfinished);
  return written;
}

// From the parts of all ranks that are saved.
torch::Tensor gather_whole(const std::string& name, torch::IntArrayRef sizes,
                           std::span<const strategy::LocalParameter> parts,
                           comm::Communicator& communicator) {
  // Zero but for the parts that are kept here, of which each is counted once.
  torch::Tensor whole = torch::zeros({c10::multiply_integers(sizes)},
                                     torch::dtype(torch::kFloat32).device(communicator.device()));
  for (const strategy::LocalParameter& part : parts) {
    if (part.name != name || !part.is_primary) continue;
    whole.narrow(0, part.begin, part.end - part.begin).copy_(part.value.detach().flatten());
  }
  if (communicator.world_size() > 1) {
    communicator.all_reduce(whole, comm::named_tag("trained values"))->wait();
  }
  return whole.cpu().view(sizes);
}

}  // namespace

AdapterValues gather_trained(const model::Model& model,
                             std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator) {
  const torch::NoGradGuard no_grad;
  AdapterValues trained;
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(model)) {
    if (!each.tensor.requires_grad()) continue;
    trained[each.name] = gather_whole(each.name, each.tensor.sizes(), parameters, communicator);
  }
  return trained;
}

void add_whole(const std::vector<std::string>& names, const model::Model& model,
               const LoraOptions& lora, std::span<const strategy::LocalParameter> parameters,
               comm::Communicator& communicator, AdapterValues& trained) {
  const torch::NoGradGuard no_grad;
  const MergedWeights weights(model, lora, trained);
  for (const tensor::NamedTensor& each : tensor::named_parameters_of(model)) {
    if (trained.contains(each.name) || std::ranges::find(names, each.name) == names.end()) continue;
    std::vector<strategy::LocalParameter> parts;
    for (const strategy::LocalParameter& part : parameters) {
      if (part.name == each.name) parts.push_back(*weights.merged(part));
    }
    trained[each.name] = gather_whole(each.name, weights.sizes_of(each), parts, communicator);
    const std::string layer = each.name.substr(0, each.name.rfind('.'));
    trained.erase(factor_of(layer, kLoraA));
    trained.erase(factor_of(layer, kLoraB));
  }
}

trace::base::Result<void> save_adapter(const fs::path& folder,
                                       const AdapterDescription& description,
                                       const model::Model& model, const AdapterValues& trained,
                                       comm::Communicator& communicator) {
  trace::base::Result<void> written;
  if (communicator.rank() == 0) {
    written = write_adapter(folder, config_text(description, model, trained), trained);
  }
  return checkpoint::SharedWork(communicator, "adapters").agree(written);
}

MergedWeights::MergedWeights(const model::Model& model, const LoraOptions& lora,
                             const AdapterValues& trained)
    : scaling_(lora.scaling()) {
  for (const NamedLinear& each : linear_layers_of(model)) {
    Matrix& matrix = matrices_[each.name + ".weight"];
    matrix.sizes = each.layer->matrix_sizes();
    matrix.transposed = each.layer->is_transposed();
    const auto a = trained.find(factor_of(each.name, kLoraA));
    if (a == trained.end()) continue;
    matrix.a = a->second;
    matrix.b = trained.at(factor_of(each.name, kLoraB));
  }
}

torch::IntArrayRef MergedWeights::sizes_of(const tensor::NamedTensor& parameter) const {
  const auto found = matrices_.find(parameter.name);
  return found == matrices_.end() ? parameter.tensor.sizes()
                                  : torch::IntArrayRef(found->second.sizes);
}

std::optional<strategy::LocalParameter> MergedWeights::merged(
    const strategy::LocalParameter& part) const {
  if (is_adapter_parameter(part.name)) return std::nullopt;
  const torch::NoGradGuard no_grad;
  strategy::LocalParameter range = part;
  const torch::Tensor kept = part.value.detach().flatten();
  const auto found = matrices_.find(part.name);
  if (kept.scalar_type() == torch::kUInt8) {
    range.sizes = found->second.sizes;
    const std::int64_t all = c10::multiply_integers(range.sizes);
    const auto values_before = [&](std::int64_t bytes) {
      return std::min(all, bytes / trace::job::kNf4BlockBytes * trace::job::kNf4BlockValues);
    };
    range.begin = values_before(part.begin);
    range.end = values_before(part.end);
    range.value = tensor::dequantize_nf4(kept, range.end - range.begin, torch::kFloat32);
  } else {
    range.value = kept.to(torch::kFloat32, /*non_blocking=*/false, /*copy=*/true);
  }
  if (found == matrices_.end() || !found->second.a.defined()) return range;
  const Matrix& matrix = found->second;
  const auto device = range.value.device();
  // The rows of the matrix as it is stored that the range touches.
  const std::int64_t columns = matrix.sizes[1];
  const std::int64_t first = range.begin / columns, last = (range.end + columns - 1) / columns;
  const torch::Tensor left = matrix.transposed ? matrix.a.t() : matrix.b;
  const torch::Tensor right = matrix.transposed ? matrix.b.t() : matrix.a;
  const torch::Tensor change =
      at::mm(left.slice(0, first, last).to(device), right.to(device)).mul_(scaling_);
  range.value.add_(
      change.flatten().narrow(0, range.begin - first * columns, range.end - range.begin));
  return range;
}

}  // namespace shardlens::trainer::lora
