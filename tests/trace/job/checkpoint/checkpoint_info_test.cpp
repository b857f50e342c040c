#include "trace/job/checkpoint/checkpoint_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/base/checksum.h"

namespace shardlens::trace::job {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kContent = "HEADER and the rest";
constexpr std::int64_t kHeaderBytes = 6;

CheckpointInfo sample() {
  CheckpointInfo info;
  info.step = 20;
  info.samples_seen = 640;
  info.epoch = 1;
  info.batch_index = 7;
  info.seed = 0xffffffffffffffff;
  info.world_size = 4;
  info.strategy = "full_shard";
  info.format = "sharded";
  info.model = "it's \"mine\": #1\n🚀";
  info.optimizer = "adamw";
  info.optimizer_steps = 20;
  info.saved_ns = 1'790'000'000'000'000'000;
  info.notes = {{"loss_scale", "65536"}, {"a: b", "\\ \t{"}};
  info.parameters = {{"transformer.wte.weight", {50257, 768}}, {"bias", {3}}, {"scalar", {}}};
  info.files = {{"model.safetensors", static_cast<std::int64_t>(kContent.size()), kHeaderBytes,
                 base::checksum_of("HEADER")}};
  return info;
}

fs::path written(const fs::path& folder, const CheckpointInfo& info = sample()) {
  fs::create_directories(folder);
  for (const CheckpointFile& file : info.files) test::write_text(folder / file.name, kContent);
  test::write_text(folder / kCheckpointFile, checkpoint_info_to_yaml(info));
  return folder;
}

base::Error error_of(const fs::path& folder) {
  const auto info = read_checkpoint_info(folder);
  EXPECT_FALSE(info);
  return info ? base::Error{} : info.error();
}

// A text whose own checksum is right although its content is not ours.
std::string sealed(const std::string& text) {
  return text + "checksum: " + base::checksum_text(base::checksum_of(text)) + "\n";
}

TEST(CheckpointInfo, ReadsBackWhatWasWritten) {
  const Folder folder;
  const CheckpointInfo info = sample();
  const auto read = read_checkpoint_info(written(folder / "step_000020"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->folder, folder / "step_000020");
  EXPECT_EQ(checkpoint_info_to_yaml(*read), checkpoint_info_to_yaml(info));
  EXPECT_EQ(read->model, info.model);
  EXPECT_EQ(read->seed, info.seed);
  EXPECT_EQ(read->notes, info.notes);
  EXPECT_EQ(read->batch_index, 7);
  ASSERT_EQ(read->parameters.size(), 3u);
  EXPECT_EQ(read->parameters[0].name, "transformer.wte.weight");
  EXPECT_EQ(read->parameters[0].sizes, (std::vector<std::int64_t>{50257, 768}));
  EXPECT_EQ(read->parameters[2].sizes, std::vector<std::int64_t>{});
}

TEST(CheckpointInfo, RefusesEveryChangeOfItsText) {
  const std::string yaml = checkpoint_info_to_yaml(sample());
  for (std::size_t i = 0; i < yaml.size(); ++i) {
    std::string changed = yaml;
    changed[i] ^= 1;
    EXPECT_FALSE(parse_checkpoint_info(changed, "it")) << i;
    EXPECT_FALSE(parse_checkpoint_info(yaml.substr(0, i), "it")) << i;
  }
}

TEST(CheckpointInfo, RefusesForeignTextAlsoWithAGoodChecksum) {
  const auto message = [](const std::string& text) {
    const auto info = parse_checkpoint_info(sealed(text), "it");
    return info ? std::string("accepted") : info.error().message;
  };
  EXPECT_THAT(message(""), HasSubstr("'shardlens_checkpoint' is missing"));
  EXPECT_THAT(message("- a\n"), HasSubstr("'shardlens_checkpoint' is missing"));
  EXPECT_THAT(message("{a: [}\n"), HasSubstr("not readable"));
  EXPECT_THAT(message(std::string(100'000, '[') + "\n"), HasSubstr("not readable"));
  EXPECT_THAT(message("shardlens_checkpoint: 2\n"), HasSubstr("newer version"));
  EXPECT_THAT(message("shardlens_checkpoint: 1\nstep: -4\n"),
              HasSubstr("'step' is no such number"));
}

TEST(CheckpointInfo, RefusesNamesOutsideItsFolderAndImpossibleShapes) {
  CheckpointInfo info = sample();
  info.files[0].name = "../model.safetensors";
  EXPECT_FALSE(parse_checkpoint_info(checkpoint_info_to_yaml(info), "it"));
  info = sample();
  info.files.push_back(info.files[0]);
  EXPECT_FALSE(parse_checkpoint_info(checkpoint_info_to_yaml(info), "it"));
  info = sample();
  info.files[0].header_bytes = info.files[0].bytes + 1;
  EXPECT_FALSE(parse_checkpoint_info(checkpoint_info_to_yaml(info), "it"));
  for (const std::vector<std::int64_t>& sizes :
       {std::vector<std::int64_t>{-1}, {std::int64_t{1} << 40, std::int64_t{1} << 40}}) {
    info = sample();
    info.parameters[0].sizes = sizes;
    EXPECT_FALSE(parse_checkpoint_info(checkpoint_info_to_yaml(info), "it"));
  }
}

TEST(CheckpointInfo, NamesTheFileThatIsMissingCutOrChanged) {
  const Folder folder;
  const fs::path checkpoint = written(folder / "step_000020");
  const fs::path model = checkpoint / "model.safetensors";
  test::write_text(model, "HEADEr and the rest");
  EXPECT_THAT(error_of(checkpoint).message, AllOf(HasSubstr(model.string()), HasSubstr("header")));
  test::write_text(model, "HEADER and");
  EXPECT_THAT(error_of(checkpoint).message,
              AllOf(HasSubstr(model.string()), HasSubstr("10 bytes instead of 19")));
  fs::remove(model);
  EXPECT_THAT(error_of(checkpoint).message, HasSubstr(model.string() + "' is missing"));
  EXPECT_EQ(error_of(checkpoint).kind, base::ErrorKind::kDamaged);
  EXPECT_EQ(error_of(folder.path()).kind, base::ErrorKind::kMissing);
}

TEST(CheckpointInfo, IsFoundFromACheckpointItsParentAndTheRun) {
  const Folder run;
  const fs::path checkpoints = run / "checkpoints";
  written(checkpoints / "step_000020");
  written(checkpoints / "step_000100");
  fs::create_directories(checkpoints / "step_000200");  // no checkpoint.yaml
  written(checkpoints / "step_000300.tmp-1-2");         // unfinished
  test::write_text(checkpoints / "step_000400", "a file, no folder");
  for (const fs::path& path : {run.path(), checkpoints, checkpoints / "step_000100"}) {
    const auto found = find_checkpoint(path);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, checkpoints / "step_000100");
  }
  EXPECT_EQ(*find_checkpoint(checkpoints / "step_000020"), checkpoints / "step_000020");
  EXPECT_EQ(list_checkpoints(checkpoints).size(), 2u);
}

TEST(CheckpointInfo, SaysWhyNothingWasFound) {
  const Folder folder;
  EXPECT_THAT(find_checkpoint(folder / "absent").error().message, HasSubstr("absent"));
  EXPECT_THAT(find_checkpoint(folder.path()).error().message, HasSubstr("save_every"));
  written(folder / "best_checkpoint" / "step_000004");
  const auto only_best = find_checkpoint(folder.path());
  ASSERT_FALSE(only_best);
  EXPECT_THAT(only_best.error().message, HasSubstr("best_checkpoint/step_000004"));
  EXPECT_THAT(only_best.error().message, Not(HasSubstr("saved none")));
  EXPECT_TRUE(find_checkpoint(folder / "best_checkpoint"));
  test::write_text(folder / "packed.shardlens", "x");
  EXPECT_EQ(find_checkpoint(folder / "packed.shardlens").error().kind, base::ErrorKind::kForeign);
}

TEST(CheckpointInfo, SortsStepsByNumberNotByName) {
  const Folder folder;
  for (const std::int64_t step : {999'999, 1'000'000, 5}) {
    written(folder / checkpoint_folder_name(step));
  }
  const auto found = list_checkpoints(folder.path());
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found.back().step, 1'000'000);
  EXPECT_EQ(found.front().path.filename(), "step_000005");
}

TEST(CheckpointInfo, OfAnotherShapeNamesTheTensorsAndBothShapes) {
  CheckpointInfo info = sample();
  info.folder = "/runs/a/checkpoints/step_000020";
  std::vector<ParameterShape> expected = info.parameters;
  std::swap(expected[0], expected[1]);
  EXPECT_TRUE(check_parameters(info, expected));
  EXPECT_EQ(shape_fingerprint(expected), shape_fingerprint(info.parameters));
  expected = {{"transformer.wte.weight", {50257, 64}}, {"scalar", {}}, {"lm_head.weight", {4}}};
  EXPECT_NE(shape_fingerprint(expected), shape_fingerprint(info.parameters));
  const auto checked = check_parameters(info, expected);
  ASSERT_FALSE(checked);
  EXPECT_EQ(checked.error().kind, base::ErrorKind::kUsage);
  EXPECT_THAT(
      checked.error().message,
      AllOf(HasSubstr("step_000020"),
            HasSubstr("'transformer.wte.weight' is [50257, 768] there and [50257, 64] here"),
            HasSubstr("not in the checkpoint: 'lm_head.weight'"),
            HasSubstr("only in the checkpoint: 'bias'"), Not(HasSubstr("'scalar'")),
            HasSubstr("Set model to")));
}

TEST(CheckpointInfo, OfOtherAdaptersNamesWhatMadeThem) {
  const CheckpointInfo info = sample();
  std::vector<ParameterShape> expected = info.parameters;
  expected.push_back({"h.0.attn.c_attn.lora_A.weight", {4, 64}});
  const auto checked = check_parameters(info, expected);
  ASSERT_FALSE(checked);
  EXPECT_THAT(checked.error().message,
              AllOf(HasSubstr("Set lora_rank and"), Not(HasSubstr("Set model"))));
}

std::string meaning_of(const ModelShape& shape) {
  return notes_of_meaning({}, shape).at("model_shape");
}

TEST(NotesOfMeaning, AreTheSameHoweverTheModelsConfigSpellsIt) {
  const ModelShape preset = find_model_preset("llama-1b").value();
  ModelShape same = preset;
  same.name = "/models/a";
  same.head_size = preset.head_width();
  same.context *= 2;
  EXPECT_EQ(meaning_of(same), meaning_of(preset));
  for (const RotaryKind kind : {RotaryKind::kDynamic, RotaryKind::kLinear}) {
    ModelShape longer = same;
    same.rotary = {.factor = 2, .original_context = 2048, .kind = kind};
    longer.rotary = {.factor = 2, .original_context = 4096, .kind = kind};
    EXPECT_EQ(meaning_of(longer), meaning_of(same));
  }
}

TEST(NotesOfMeaning, DifferWhereSomethingElseIsComputed) {
  const ModelShape preset = find_model_preset("llama-1b").value();
  ModelShape other = preset;
  other.norm_epsilon *= 2;
  EXPECT_NE(meaning_of(other), meaning_of(preset));
  other = preset;
  other.rotary.original_context *= 2;  // of Llama 3's kind
  EXPECT_NE(meaning_of(other), meaning_of(preset));
  other.rotary = {.factor = 2, .kind = RotaryKind::kLinear};
  EXPECT_NE(meaning_of(other), meaning_of(preset));
}

TEST(CheckResume, NamesOfAnotherMeaningOnlyWhatDiffers) {
  Settings settings;
  settings.steps = 100;
  settings.lora_rank = 4;
  ModelShape shape = find_model_preset("llama-1b").value();
  CheckpointInfo info = sample();
  info.optimizer = chosen<&Settings::optimizer>(settings);
  info.notes = notes_of_meaning(settings, shape);
  const auto resumed = [&] {
    return check_resume(info, settings, info.parameters, notes_of_meaning(settings, shape), false);
  };
  EXPECT_TRUE(resumed());
  shape.rotary_base = ModelShape().rotary_base;
  const auto refused = resumed();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message,
              AllOf(HasSubstr("saved with model_shape rotary_base=5e+05, and here it is the "
                              "default. Set model"),
                    Not(HasSubstr("layers="))));
  settings.lora_alpha = 7.5;
  EXPECT_THAT(resumed().error().message, HasSubstr("and here it is 7.5. Set model and lora_alpha"));
}

}  // namespace
}  // namespace shardlens::trace::job
