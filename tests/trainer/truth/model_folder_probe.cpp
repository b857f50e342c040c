// Lets the Python tests see what becomes of a model folder. Each line of its input is a request,
// words between tabs; it answers with "done" or with what went wrong.
//   run FOLDER BATCH FILE         its logits, loss and gradients for a batch: a dict of tokens,
//   targets and perhaps mask save FOLDER INTO TYPE BYTES   saves it again, in files of so many
//   bytes at most; TYPE: F32, BF16, F16 or as-it-is; a
//                                 preset's name instead of FOLDER: with initial values
#include <torch/serialize.h>
#include <torch/types.h>

#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/trainer/comm/rank_threads.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/model/build_model.h"
#include "trainer/model/encoder_classifier.h"
#include "trainer/tensor/named_tensor.h"

namespace {

using namespace shardlens::trainer;
namespace trace = shardlens::trace;

using Values = c10::Dict<std::string, torch::Tensor>;

constexpr std::uint64_t kSeed = 7;

struct Loaded {
  model::ModelShape shape;
  std::shared_ptr<model::Model> model;
};

trace::base::Result<Loaded> load(const std::string& name) {
  TRY_ASSIGN(const model::ModelShape shape, trace::job::find_model(name));
  if (!trace::job::is_model_folder(name)) {
    return Loaded{shape, model::build_any_model(shape, {0.0, kSeed, torch::kCPU})};
  }
  TRY_ASSIGN(huggingface::FolderSource source, huggingface::FolderSource::open(name, shape));
  auto model = model::build_any_model(shape, {0.0, kSeed, torch::kCPU, /*has_memory=*/false});
  model::initialize_parameters(*model, shape, kSeed, source.fresh());
  model::allocate_parameters(*model, source, /*reads=*/true);
  return Loaded{shape, model};
}

model::TokenBatch read_batch(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(stream), {}};
  model::TokenBatch batch;
  for (const auto& item : torch::pickle_load(bytes).toGenericDict()) {
    const std::string& name = item.key().toStringRef();
    if (name == "tokens") batch.inputs = item.value().toTensor();
    if (name == "targets") batch.targets = item.value().toTensor();
    if (name == "mask") batch.attention_mask = item.value().toTensor();
  }
  batch.counted_targets = batch.targets.ne(model::kIgnoredTarget).sum().item<std::int64_t>();
  return batch;
}

torch::Tensor logits_of(model::Model& model, const model::TokenBatch& batch) {
  if (auto* encoder = dynamic_cast<model::EncoderClassifier*>(&model)) {
    return encoder->logits(batch.inputs, batch.attention_mask);
  }
  return dynamic_cast<model::DecoderModel&>(model).logits(batch.inputs);
}

trace::base::Result<void> run(const std::string& folder, const std::string& batch_file,
                              const std::string& path) {
  TRY_ASSIGN(const Loaded loaded, load(folder));
  const model::TokenBatch batch = read_batch(batch_file);
  const auto loss = loaded.model->loss(batch, static_cast<double>(batch.counted_targets));
  loss.backward();
  Values values;
  values.insert("loss", loss.detach());
  values.insert("logits", logits_of(*loaded.model, batch).detach());
  for (const auto& parameter : tensor::named_parameters_of(*loaded.model)) {
    values.insert("weight." + parameter.name, parameter.tensor.detach());
    values.insert("gradient." + parameter.name, parameter.tensor.grad());
  }
  const auto bytes = torch::pickle_save(values);
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return {};
}

// Two ranks, each with one half of every parameter.
trace::base::Result<void> save(const std::string& from, const std::string& into,
                               const std::string& type, std::int64_t file_bytes) {
  TRY_ASSIGN(const Loaded loaded, load(from));
  huggingface::SaveModelOptions options;
  options.folder = into;
  options.shape = loaded.shape;
  if (trace::job::is_model_folder(from)) {
    TRY_ASSIGN(options.texts, huggingface::read_model_texts(from, from, loaded.shape));
  }
  options.type = checkpoint::data_type_from(type);
  options.file_bytes = file_bytes;
  trace::base::Result<void> results[2];
  comm::on_ranks(
      2, [&](comm::Communicator& communicator, shardlens::profiler::recorder::Recorder&) {
        std::vector<strategy::LocalParameter> parts;
        for (const auto& parameter : tensor::named_parameters_of(*loaded.model)) {
          const torch::Tensor flat = parameter.tensor.detach().view({-1});
          const std::int64_t half = flat.numel() / 2;
          const std::int64_t begin = communicator.rank() == 0 ? 0 : half;
          const std::int64_t end = communicator.rank() == 0 ? half : flat.numel();
          parts.push_back({parameter.name, parameter.tensor.sizes().vec(), begin, end,
                           flat.slice(0, begin, end)});
        }
        results[communicator.rank()] = huggingface::save_model_folder(options, parts, communicator);
      });
  TRY(results[0]);
  return results[1];
}

trace::base::Result<void> answer(const std::vector<std::string>& words) {
  if (words.size() == 4 && words[0] == "run") return run(words[1], words[2], words[3]);
  if (words.size() == 5 && words[0] == "save") {
    return save(words[1], words[2], words[3], std::stoll(words[4]));
  }
  return trace::base::fail(trace::base::ErrorKind::kUsage, "run or save; see the probe's source");
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; std::getline(stream, word, '\t');) words.push_back(word);
    const auto done = answer(words);
    std::cout << (done ? "done" : done.error().message) << std::endl;
  }
}
