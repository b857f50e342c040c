#include "trainer/huggingface/weight_files.h"

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "trace/base/file_system.h"

namespace shardlens::trainer::huggingface {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

// Of the largest model that is known it has a few MB.
constexpr std::uintmax_t kLargestIndex = 256u << 20;

using FileOfTensor = std::map<std::string, std::string>;

tl::unexpected<trace::base::Error> damaged(const fs::path& file, const std::string& what) {
  return fail(ErrorKind::kDamaged, quoted(file) + " " + what + ". Download the folder again.");
}

Result<checkpoint::SafetensorsFile> open_file(const fs::path& file) {
  auto opened = checkpoint::SafetensorsFile::open(file);
  const bool is_whole = opened || (opened.error().kind != ErrorKind::kDamaged &&
                                   opened.error().kind != ErrorKind::kForeign);
  if (is_whole) return opened;
  return fail(opened.error().kind, opened.error().message + ". Download the folder again.");
}

// Files lie beside the index: nothing else of the disk is opened.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('/') == std::string::npos &&
         name.find('\0') == std::string::npos;
}

Result<FileOfTensor> read_index(const fs::path& file) {
  std::error_code error;
  if (fs::file_size(file, error) > kLargestIndex || error) {
    return damaged(file, "is too large for an index");
  }
  const std::string text = trace::base::whole_text(file).value_or("");
  const auto json = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  const auto map = json.is_object() ? json.find("weight_map") : json.end();
  if (!json.is_object() || map == json.end() || !map->is_object() || map->empty()) {
    return damaged(file, "is no index: it has no \"weight_map\"");
  }
  FileOfTensor files;
  for (const auto& [tensor, name] : map->items()) {
    if (!name.is_string() || !is_plain_name(name.get<std::string>())) {
      return damaged(file,
                     "names no file of this folder for tensor '" + tensor.substr(0, 200) + "'");
    }
    files[tensor] = name.get<std::string>();
  }
  return files;
}

Result<void> check_index(const fs::path& index, const FileOfTensor& files,
                         const std::vector<checkpoint::SafetensorsFile>& opened) {
  std::map<std::string, std::string> found;
  for (const checkpoint::SafetensorsFile& file : opened) {
    for (const checkpoint::TensorEntry& tensor : file.tensors()) {
      const std::string name = file.path().filename().string();
      const auto [other, is_new] = found.emplace(tensor.name, name);
      if (!is_new) {
        return damaged(index, "goes with files that both have tensor '" +
                                  tensor.name.substr(0, 200) + "': " + other->second + " and " +
                                  name);
      }
    }
  }
  for (const auto& [tensor, file] : files) {
    const auto at = found.find(tensor);
    if (at == found.end() || at->second != file) {
      return damaged(index, "says that tensor '" + tensor.substr(0, 200) + "' is in " + file +
                                ", which does not have it");
    }
  }
  return {};
}

Result<std::vector<checkpoint::SafetensorsFile>> open_indexed(const fs::path& index) {
  TRY_ASSIGN(const FileOfTensor files, read_index(index));
  std::set<std::string> names;
  for (const auto& [tensor, file] : files) names.insert(file);
  std::vector<checkpoint::SafetensorsFile> opened;
  for (const std::string& name : names) {
    const fs::path path = index.parent_path() / name;
    std::error_code error;
    if (!fs::exists(path, error)) {
      return fail(ErrorKind::kMissing, quoted(path) + ", which " + kIndexFile +
                                           " names, is not there. Download the folder again.");
    }
    TRY_ASSIGN(checkpoint::SafetensorsFile file, open_file(path));
    opened.push_back(std::move(file));
  }
  TRY(check_index(index, files, opened));
  return opened;
}

}  // namespace

Result<std::vector<checkpoint::SafetensorsFile>> open_weight_files(const fs::path& folder) {
  std::error_code error;
  const fs::path single = folder / kWeightsFile, index = folder / kIndexFile;
  if (fs::exists(single, error)) {
    std::vector<checkpoint::SafetensorsFile> files;
    TRY_ASSIGN(checkpoint::SafetensorsFile file, open_file(single));
    files.push_back(std::move(file));
    return files;
  }
  if (fs::exists(index, error)) return open_indexed(index);
  const bool has_pickles = fs::exists(folder / "pytorch_model.bin", error) ||
                           fs::exists(folder / "pytorch_model.bin.index.json", error);
  return fail(ErrorKind::kMissing,
              "there is no " + std::string(kWeightsFile) + " in " + quoted(folder) +
                  (has_pickles ? ", only pytorch_model.bin, which can run code when it is read. "
                                 "Load it in transformers and save it with save_pretrained()."
                               : ". Download the folder with its safetensors files."));
}

}  // namespace shardlens::trainer::huggingface
