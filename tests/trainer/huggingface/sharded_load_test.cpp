// What full sharding keeps and needs while it loads a model folder.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "profiler/pytorch/torch_sources.h"
#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/huggingface/model_folder.h"
#include "trace/base/file_system.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/model/build_model.h"
#include "trainer/strategy/fsdp/fully_sharded.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::huggingface {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr int kRanks = 2;

// 25 M values, 101 MB; the largest tensor has 4 MB.
trace::job::ModelShape large_shape() {
  trace::job::ModelShape shape = folder_shape();
  shape.layers = 8;
  shape.width = 512;
  shape.heads = shape.kv_heads = 8;
  shape.mlp_width = 2048;
  shape.vocabulary = 400;
  return shape;
}

std::int64_t tensor_bytes(const trace::model::MemorySample& sample) {
  return sample.total_bytes() -
         sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)];
}

std::int64_t status_bytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kibibytes = 0;
    if (word == key + ":" && status >> kibibytes) return kibibytes << 10;
  }
  return 0;
}

strategy::FullyShardedOptions full_shard() {
  strategy::FullyShardedOptions options;
  options.shard_group_size = kRanks;
  return options;
}

std::shared_ptr<model::Model> empty_model(const trace::job::ModelShape& shape) {
  return model::build_any_model(shape, {0.0, 5, torch::kCPU, /*has_memory=*/false});
}

void expect_values(const strategy::LocalParameter& part, FolderSource& source) {
  const auto expected = torch::empty({part.end - part.begin});
  ASSERT_TRUE(source.read(part.name, part.begin, expected));
  EXPECT_TRUE(torch::equal(part.value.detach().view({-1}), expected)) << part.name;
}

TEST(ShardedLoad, GivesEachRankItsPart) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  comm::on_ranks(kRanks, [&](comm::Communicator& communicator,
                             profiler::recorder::Recorder& recorder) {
    auto source = FolderSource::open(folder.path(), folder_shape());
    ASSERT_TRUE(source);
    const auto model = empty_model(folder_shape());
    const strategy::FullySharded strategy(*model, communicator, recorder, full_shard(), &*source);
    std::int64_t kept = 0;
    for (const strategy::LocalParameter& part : strategy.local_parameters()) {
      expect_values(part, *source);
      kept += part.end - part.begin;
    }
    EXPECT_LT(kept, 0.52 * static_cast<double>(trace::job::parameter_count(folder_shape())));
  });
}

// GPT-2 has no buffers, and what each rank reads needs no broadcast: there is nothing to send.
TEST(ShardedLoad, HasNothingToBroadcastWithoutBuffers) {
  const ModelFolder folder;
  folder.write_model(folder_shape());
  comm::on_ranks(
      kRanks, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        auto source = FolderSource::open(folder.path(), folder_shape());
        ASSERT_TRUE(source);
        const auto model = empty_model(folder_shape());
        strategy::FullyShardedOptions options = full_shard();
        options.sync_module_states = true;
        const strategy::FullySharded strategy(*model, communicator, recorder, options, &*source);
        for (const strategy::LocalParameter& part : strategy.local_parameters())
          expect_values(part, *source);
      });
}

TEST(ShardedLoad, NeedsNoMoreThanTheShardAndOneTensor) {
  const auto shape = large_shape();
  const std::int64_t model_bytes = 4 * trace::job::parameter_count(shape);
  ASSERT_GT(model_bytes, 100'000'000);
  const std::int64_t largest = 4 * shape.width * shape.mlp_width;
  const ModelFolder folder;
  folder.write_model(shape);
  ASSERT_TRUE(profiler::pytorch::install_cpu_memory_tracker());
  const std::int64_t before = tensor_bytes(profiler::pytorch::sample_cpu_memory());
  profiler::pytorch::take_cpu_memory_peak();
  std::ofstream("/proc/self/clear_refs") << "5";  // VmHWM begins anew
  const std::int64_t resident = status_bytes("VmRSS");
  comm::on_ranks(kRanks, [&](comm::Communicator& communicator,
                             profiler::recorder::Recorder& recorder) {
    auto source = FolderSource::open(folder.path(), shape);
    ASSERT_TRUE(source);
    const auto model = empty_model(shape);
    const strategy::FullySharded strategy(*model, communicator, recorder, full_shard(), &*source);
    // Until both have all of theirs.
    communicator.all_reduce(torch::zeros({1}), {trace::model::TagKind::kNamed, -1, "loaded"})
        ->wait();
  });
  // Both ranks are in this process: their shards are one model together.
  const std::int64_t allowed = model_bytes + kRanks * largest;
  const std::int64_t peak = tensor_bytes(profiler::pytorch::take_cpu_memory_peak()) - before;
  // Less only by what was there before and has gone meanwhile.
  EXPECT_GE(peak, model_bytes * 3 / 4);
  EXPECT_LE(peak, allowed);
  constexpr std::int64_t kThreadsAndRecorders = 40 << 20;
  EXPECT_LE(status_bytes("VmHWM") - resident, allowed + kThreadsAndRecorders);
}

std::string text_of(const fs::path& file) {
  return trace::base::whole_text(file).value_or("not there");
}

TEST(ShardedLoad, IsSavedAsItWasRead) {
  const ModelFolder from, to;
  from.write_model(folder_shape());
  from.write("config.json", R"({"model_type": "gpt2", "n_embd": 8, "n_layer": 2, "n_head": 2,
                                "n_positions": 16, "vocab_size": 30})");
  from.write("tokenizer.json", "the model's");
  from.write("added_tokens.json", "the model's");
  from.write("tokenizer_config.json", R"({"chat_template": "the model's"})");
  from.write("generation_config.json", "the model's");
  const ModelFolder words;
  for (const char* name : {"tokenizer.json", "vocab.txt", "tokenizer_config.json"})
    words.write(name, "the words'");
  SaveModelOptions options;
  options.folder = to.path() / "saved";
  options.shape = folder_shape();
  options.texts = read_model_texts(from.path(), words.path(), folder_shape()).value();
  options.file_bytes = 2000;
  comm::on_ranks(kRanks, [&](comm::Communicator& communicator,
                             profiler::recorder::Recorder& recorder) {
    auto source = FolderSource::open(from.path(), folder_shape());
    ASSERT_TRUE(source);
    const auto model = empty_model(folder_shape());
    const strategy::FullySharded strategy(*model, communicator, recorder, full_shard(), &*source);
    for (int again = 0; again < 2; ++again) {  // replaces what it wrote
      const auto saved = save_model_folder(options, strategy.local_parameters(), communicator);
      ASSERT_TRUE(saved) << saved.error().message;
    }
    SaveModelOptions foreign = options;
    foreign.folder = from.path();
    const auto refused = save_model_folder(foreign, strategy.local_parameters(), communicator);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().message, HasSubstr("was not saved by this program"));
    auto saved = FolderSource::open(options.folder, folder_shape());
    ASSERT_TRUE(saved) << saved.error().message;
    for (const strategy::LocalParameter& part : strategy.local_parameters())
      expect_values(part, *saved);
  });
  EXPECT_EQ(text_of(options.folder / "tokenizer.json"), "the words'");
  EXPECT_EQ(text_of(options.folder / "vocab.txt"), "the words'");
  EXPECT_EQ(text_of(options.folder / "tokenizer_config.json"), "the words'");
  EXPECT_FALSE(fs::exists(options.folder / "added_tokens.json")) << "of a tokenizer not used";
  EXPECT_EQ(text_of(options.folder / "generation_config.json"), "the model's");
  EXPECT_EQ(text_of(options.folder / "chat_template.jinja"), "the model's") << "the only one";
  EXPECT_TRUE(fs::exists(options.folder / kIndexFile));
  EXPECT_EQ(std::distance(fs::directory_iterator(to.path()), {}), 1) << "nothing else is left";
}

// By one rank.
void save_any_model(const fs::path& folder, trace::base::Result<ModelTexts> texts) {
  ASSERT_TRUE(texts) << texts.error().message;
  SaveModelOptions options;
  options.folder = folder;
  options.shape = folder_shape();
  options.texts = std::move(*texts);
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const auto model = model::build_any_model(folder_shape(), {0.0, 5, torch::kCPU});
    std::vector<strategy::LocalParameter> parts;
    for (const auto& each : tensor::named_parameters_of(*model)) {
      parts.push_back({each.name, each.tensor.sizes().vec(), 0, each.tensor.numel(), each.tensor});
    }
    const auto saved = save_model_folder(options, parts, communicator);
    EXPECT_TRUE(saved) << saved.error().message;
  });
}

// A training may last longer than the folders that it began with.
TEST(ShardedLoad, IsSavedWithWhatWasThereWhenItBegan) {
  const ModelFolder from, to;
  from.write_model(folder_shape());
  from.write("config.json", R"({"model_type": "gpt2", "rope_theta": 7})");
  from.write("tokenizer.json", "the model's");
  auto texts = read_model_texts(from.path(), from.path(), folder_shape());
  fs::remove_all(from.path());
  save_any_model(to.path() / "saved", std::move(texts));
  EXPECT_THAT(text_of(to.path() / "saved" / "config.json"), HasSubstr("rope_theta"));
  EXPECT_EQ(text_of(to.path() / "saved" / "tokenizer.json"), "the model's");
}

// A folder may have several tokenizers, of which the file that was named is the one that was used.
TEST(ShardedLoad, IsSavedWithTheFileOfTheTokenizerThatWasNamed) {
  const ModelFolder words, to;
  for (const char* name : {"tokenizer.json", "mine.json", "vocab.txt", "special_tokens_map.json"})
    words.write(name, name);
  words.write("tokenizer_config.json",
              R"({"chat_template": [{"name": "default", "template": "the words'"},
                                    {"name": "tool_use", "template": "with tools"}]})");
  for (const char* file : {"mine.json", "vocab.txt"}) {
    save_any_model(to.path() / file, read_model_texts({}, words.path() / file, folder_shape()));
  }
  EXPECT_EQ(text_of(to.path() / "mine.json" / "tokenizer.json"), "mine.json");
  EXPECT_FALSE(fs::exists(to.path() / "mine.json" / "vocab.txt"));
  EXPECT_EQ(text_of(to.path() / "mine.json" / "chat_template.jinja"), "the words'");
  EXPECT_EQ(text_of(to.path() / "mine.json" / "additional_chat_templates" / "tool_use.jinja"),
            "with tools");
  EXPECT_EQ(text_of(to.path() / "vocab.txt" / "vocab.txt"), "vocab.txt");
  EXPECT_FALSE(fs::exists(to.path() / "vocab.txt" / "tokenizer.json"));
  EXPECT_TRUE(fs::exists(to.path() / "vocab.txt" / "special_tokens_map.json"));
}

}  // namespace
}  // namespace shardlens::trainer::huggingface
