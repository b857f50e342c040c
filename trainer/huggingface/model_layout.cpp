#include "trainer/huggingface/model_layout.h"

#include <nlohmann/json.hpp>

#include "trace/base/number_text.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trainer/huggingface/weight_files.h"

namespace shardlens::trainer::huggingface {

namespace {

constexpr int kIndent = 2;

std::vector<std::vector<checkpoint::TensorEntry>> divided(const trace::job::ModelShape& shape,
                                                          checkpoint::DataType type,
                                                          std::int64_t file_bytes) {
  std::vector<std::vector<checkpoint::TensorEntry>> files(1);
  std::int64_t bytes = 0;
  for (trace::job::ParameterShape& parameter : trace::job::parameter_shapes(shape)) {
    const std::int64_t size = parameter.numel() * checkpoint::bytes_of(type);
    if (bytes > 0 && bytes + size > file_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    bytes += size;
    files.back().push_back({std::move(parameter.name), type, std::move(parameter.sizes)});
  }
  return files;
}

// "model-00001-of-00003.safetensors"
std::string file_name(std::size_t index, std::size_t count) {
  if (count == 1) return kWeightsFile;
  return trace::base::formatted("model-%05zu-of-%05zu.safetensors", index + 1, count);
}

}  // namespace

SavedLayout layout_of(const trace::job::ModelShape& shape, checkpoint::DataType type,
                      std::int64_t file_bytes) {
  SavedLayout layout;
  auto files = divided(shape, type, file_bytes);
  for (std::size_t i = 0; i < files.size(); ++i) {
    SavedFile& file = layout.files.emplace_back();
    file.name = file_name(i, files.size());
    file.tensors = std::move(files[i]);
    checkpoint::place_tensors(file.tensors);
    file.header = checkpoint::encode_header(file.tensors, saved_metadata());
    for (std::size_t tensor = 0; tensor < file.tensors.size(); ++tensor) {
      layout.places[file.tensors[tensor].name] = {i, tensor};
      layout.values += file.tensors[tensor].numel();
    }
  }
  return layout;
}

std::string SavedLayout::index() const {
  if (files.size() == 1) return "";
  nlohmann::ordered_json json;
  const std::int64_t width = checkpoint::bytes_of(files.front().tensors.front().type);
  json["metadata"] = {{"total_parameters", values}, {"total_size", values * width}};
  for (const auto& [name, place] : places) json["weight_map"][name] = files[place.file].name;
  return json.dump(kIndent) + "\n";
}

}  // namespace shardlens::trainer::huggingface
