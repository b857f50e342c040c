#include "app/session/jobs/strategy_planner.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>

#include "tests/files.h"
#include "trace/job/shape/strategy.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::session {
namespace {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

Machine machine_with_gpus(int count) {
  Machine machine;
  machine.cuda.driver_found = true;
  for (int i = 0; i < count; ++i) machine.cuda.devices.push_back({"NVIDIA H100", 80 * kGiB});
  machine.host_bytes = 64 * kGiB;
  return machine;
}

trace::predict::Plan plan_by_hand(const trace::job::Settings& settings, const char* model,
                                  const char* gpu, std::int64_t gpus_per_node, std::int64_t nodes) {
  trace::predict::PlanRequest request;
  request.settings = settings;
  request.shape = *trace::job::find_planning_model(model);
  const auto model_of_gpu = *trace::predict::find_gpu(gpu);
  request.memory_bytes = model_of_gpu.memory_bytes();
  request.workspace_bytes = trace::predict::cublas_workspace_bytes(model_of_gpu.title);
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.gpus_per_node = gpus_per_node;
  request.nodes = nodes;
  return *trace::predict::plan_job(request);
}

void expect_same(const std::vector<trace::predict::StrategyPlan>& a,
                 const std::vector<trace::predict::StrategyPlan>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].strategy, b[i].strategy);
    EXPECT_EQ(a[i].refused.empty(), b[i].refused.empty()) << a[i].name();
    EXPECT_EQ(a[i].memory.total(), b[i].memory.total()) << a[i].name();
    EXPECT_EQ(a[i].traffic.bytes(), b[i].traffic.bytes()) << a[i].name();
  }
}

TEST(StrategyPlanner, EstimatesForTheGpusOfThisMachineWhatThePlanOfThemSays) {
  StrategyPlanner planner(machine_with_gpus(4));
  trace::job::Settings settings;
  settings.model = "gpt2";
  settings.ranks = 4;
  settings.device = trace::job::DeviceChoice::kAuto;
  const auto estimates = planner.estimates(settings);
  ASSERT_TRUE(estimates);
  EXPECT_EQ(estimates->usable_bytes, 80 * kGiB - trace::predict::kReservedBytes);
  expect_same(estimates->strategies, plan_by_hand(settings, "gpt2", "h100-80", 4, 1).strategies);
}

TEST(StrategyPlanner, EstimatesForTheCpuWhereThereIsNoGpu) {
  StrategyPlanner planner(machine_with_gpus(0));
  trace::job::Settings settings;
  settings.ranks = 2;
  const auto estimates = planner.estimates(settings);
  ASSERT_TRUE(estimates);
  EXPECT_EQ(estimates->usable_bytes, 32 * kGiB);
  for (const auto& plan : estimates->strategies) {
    auto job = trace::predict::job_on_this_machine(settings,
                                                   *trace::job::find_model_preset(settings.model));
    job.settings.sharding_strategy = plan.strategy;
    EXPECT_EQ(plan.memory.total(), trace::predict::predict_peak_bytes(job)) << plan.name();
  }
}

TEST(StrategyPlanner, EstimatesNothingWhereSomeBlocksAloneHaveAdapters) {
  StrategyPlanner planner;
  trace::job::Settings settings;
  settings.lora_rank = 4;
  EXPECT_NE(planner.estimates(settings), nullptr);
  EXPECT_TRUE(peak_bytes_here(settings, Machine{}));
  settings.lora_target_modules = "h.0.mlp.c_fc";
  EXPECT_EQ(planner.estimates(settings), nullptr);
  EXPECT_FALSE(peak_bytes_here(settings, Machine{}));
}

// A simulated link wants the CPU, unless a GPU is asked for.
TEST(StrategyPlanner, EstimatesForTheDeviceThatTheJobWouldRunOn) {
  StrategyPlanner planner(machine_with_gpus(4));
  trace::job::Settings settings;
  settings.ranks = 2;
  settings.simulate_link = "latency_us=50,gbit_per_s=1";
  const auto estimates = planner.estimates(settings);
  ASSERT_TRUE(estimates);
  EXPECT_EQ(estimates->usable_bytes, 32 * kGiB);
  EXPECT_NE(estimates->device.find("this machine's memory"), std::string::npos);
  settings.device = trace::job::DeviceChoice::kCuda;
  EXPECT_EQ(planner.estimates(settings)->usable_bytes, 80 * kGiB - trace::predict::kReservedBytes);
}

TEST(StrategyPlanner, PlansForAModelFolderOnceAWorkerHasReadIt) {
  const trace::test::Folder folder;
  std::atomic<bool> told = false;
  StrategyPlanner planner(machine_with_gpus(0), [&] { told = true; });
  planner.open_card();
  trace::job::Settings settings;
  settings.model = folder.path();
  // The worker may be done before anybody looks, so it is not asked to tell once more.
  const auto wait_for_news = [&] {
    const auto is_told = [&] { return told && planner.has_news(); };
    for (int i = 0; i < 3000 && !is_told(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return is_told();
  };
  ui::state::KnobDraft draft;
  draft.next = settings;
  planner.complete(draft);
  EXPECT_EQ(draft.estimates, nullptr);
  EXPECT_TRUE(draft.problems.empty()) << "it is being read";
  ASSERT_TRUE(wait_for_news());
  EXPECT_NE(planner.card(settings)->problem.find("no config.json"), std::string::npos);
  planner.complete(draft);
  ASSERT_EQ(draft.problems.size(), 1u);
  EXPECT_EQ(draft.problems[0].knob, "model");
  EXPECT_NE(draft.problems[0].message.find("no config.json"), std::string::npos);
  std::ofstream(folder / "config.json")
      << R"({"model_type": "gpt2", "n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 512,
             "vocab_size": 300})";
  // Nobody changes a setting: it looks again by itself.
  ASSERT_TRUE(wait_for_news());
  draft.problems.clear();
  planner.complete(draft);
  EXPECT_TRUE(draft.problems.empty());
  EXPECT_NE(draft.estimates, nullptr);
  ASSERT_TRUE(planner.card(settings)->plan);
  EXPECT_EQ(planner.card(settings)->plan->request.shape.width, 8);
}

TEST(StrategyPlanner, PlansForAsManyClassesAsTheJobWants) {
  StrategyPlanner planner(machine_with_gpus(0));
  planner.open_card();
  ui::state::KnobDraft draft;
  draft.next.num_labels = 3;
  planner.complete(draft);
  ASSERT_EQ(draft.problems.size(), 1u);
  EXPECT_NE(draft.problems[0].message.find("num_labels: auto"), std::string::npos);
  EXPECT_NE(planner.card(draft.next)->problem.find("num_labels: auto"), std::string::npos);
}

TEST(StrategyPlanner, SharesAGpuAmongItsRanks) {
  trace::job::Settings settings;
  settings.device = trace::job::DeviceChoice::kCuda;
  settings.ranks = 4;
  EXPECT_EQ(usable_bytes_here(settings, machine_with_gpus(2)),
            40 * kGiB - trace::predict::kReservedBytes);
  EXPECT_EQ(usable_bytes_here(settings, machine_with_gpus(0)), 0) << "not known";
}

TEST(StrategyPlanner, AnswersOnceForTheSameSettings) {
  StrategyPlanner planner;
  planner.open_card();
  trace::job::Settings settings;
  const auto estimates = planner.estimates(settings);
  const auto card = planner.card(settings);
  EXPECT_EQ(planner.estimates(settings), estimates);
  EXPECT_EQ(planner.card(settings), card);
  settings.batch_per_rank *= 2;
  EXPECT_NE(planner.estimates(settings), estimates);
  EXPECT_NE(planner.card(settings), card);
}

TEST(StrategyPlanner, SaysWhyAStrategyIsRefused) {
  StrategyPlanner planner;
  trace::job::Settings settings;
  settings.sharding_strategy = trace::job::Strategy::kFullShard;
  settings.cpu_offload = true;
  const auto estimates = planner.estimates(settings);
  EXPECT_NE(estimates->strategies[0].refused.find("cpu_offload"), std::string::npos);
  EXPECT_EQ(estimates->strategies[4].refused, "");
}

TEST(StrategyPlanner, PlansForTheChosenModelGpusAndNodes) {
  StrategyPlanner planner;
  trace::job::Settings settings;
  EXPECT_EQ(planner.card(settings), nullptr) << "closed";
  planner.open_card();
  for (const auto& [name, text] : {std::pair{"model", "llama-70b"},
                                   {"gpu", "b200-192"},
                                   {"gpus_per_node", "4"},
                                   {"nodes", "16"}}) {
    ASSERT_TRUE(planner.set_target({name, text}).has_value()) << name;
  }
  const auto card = planner.card(settings);
  ASSERT_TRUE(card->plan);
  EXPECT_EQ(card->plan->request.ranks(), 64);
  expect_same(card->plan->strategies,
              plan_by_hand(settings, "llama-70b", "b200-192", 4, 16).strategies);
  EXPECT_FALSE(card->remedies.empty()) << "ddp of 70 B parameters fits no GPU";
  planner.close_card();
  EXPECT_EQ(planner.card(settings), nullptr);
}

TEST(StrategyPlanner, FollowsTheSettingsModelUntilAnotherIsChosen) {
  StrategyPlanner planner;
  planner.open_card();
  trace::job::Settings settings;
  settings.model = "gpt2";
  EXPECT_EQ(planner.card(settings)->plan->request.shape.name, "gpt2");
  ASSERT_TRUE(planner.set_target({"model", "llama-8b"}).has_value());
  EXPECT_EQ(planner.card(settings)->plan->request.shape.name, "llama-8b");
  ASSERT_TRUE(planner.set_target({"model", "gpt2"}).has_value());
  planner.card(settings);
  settings.model = "tiny";
  EXPECT_EQ(planner.card(settings)->plan->request.shape.name, "tiny");
}

TEST(StrategyPlanner, RefusesATargetThatIsNoneAndKeepsTheOneBefore) {
  StrategyPlanner planner;
  planner.open_card();
  for (const auto& [name, text] : {std::pair{"model", "llama-9b"},
                                   {"gpu", "h100-81"},
                                   {"gpus_per_node", "many"},
                                   {"nodes", "0"},
                                   {"nodes", "2 "},
                                   {"nodes", "99999999999999999999"},
                                   {"weather", "fine"}}) {
    const auto result = planner.set_target({name, text});
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_FALSE(result.error().message.empty());
  }
  EXPECT_EQ(planner.card({})->target, ui::state::PlanTarget{});
}

TEST(StrategyPlanner, SaysWhyThereIsNoPlan) {
  StrategyPlanner planner;
  planner.open_card();
  trace::job::Settings settings;
  settings.sequence_length = 4096;  // of a model that sees 512
  const auto card = planner.card(settings);
  EXPECT_FALSE(card->plan);
  EXPECT_NE(card->problem.find("sequence_length"), std::string::npos);
}

}  // namespace
}  // namespace shardlens::app::session
