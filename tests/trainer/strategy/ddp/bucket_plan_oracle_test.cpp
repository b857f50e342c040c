// Bucket contents and order, before and after the rebuild, against PyTorch's own DDP in Python.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/trainer/comm/rank_threads.h"
#include "trainer/strategy/ddp/data_parallel.h"

namespace shardlens::trainer::strategy {
namespace {

// Some below a cap, some just above, one above them all; used in another order than registered.
const std::vector<std::vector<std::int64_t>> kShapes{
    {1024, 512}, {512}, {700, 300}, {300},   {2048, 1024}, {64},        {1000, 1000},
    {256, 256},  {128}, {900, 600}, {33, 7}, {3000, 2400}, {1500, 1500}};
const std::vector<std::size_t> kUseOrder{3, 0, 1, 2, 12, 4, 5, 11, 7, 6, 8, 10, 9};

struct Case {
  std::string name;
  std::string python;  // options of DistributedDataParallel
  trace::job::Settings options;
};

std::vector<Case> cases() {
  std::vector<Case> all{{"default", "", {}}};
  for (const int cap : {1, 2, 4, 25}) {
    Case with_cap{"cap" + std::to_string(cap), "bucket_cap_mb=" + std::to_string(cap), {}};
    with_cap.options.bucket_cap_mb = cap;
    // 25 said aloud is not the default: then PyTorch's first bucket is no smaller.
    if (cap == 25) with_cap.options.first_bucket_mb = cap;
    all.push_back(with_cap);
  }
  Case with_views{"views", "gradient_as_bucket_view=True,bucket_cap_mb=4", {}};
  with_views.options.gradient_as_bucket_view = true;
  with_views.options.bucket_cap_mb = 4;
  Case with_static_graph{"static", "static_graph=True,bucket_cap_mb=2", {}};
  with_static_graph.options.static_graph = true;
  with_static_graph.options.bucket_cap_mb = 2;
  Case with_search{"search", "find_unused_parameters=True", {}};
  with_search.options.find_unused_parameters = true;
  Case with_search_and_cap{"search4", "find_unused_parameters=True,bucket_cap_mb=4", {}};
  with_search_and_cap.options.find_unused_parameters = true;
  with_search_and_cap.options.bucket_cap_mb = 4;
  all.insert(all.end(), {with_views, with_static_graph, with_search, with_search_and_cap});
  return all;
}

template <typename Values>
std::string joined(const Values& values, const std::string& separator) {
  std::ostringstream text;
  for (std::size_t i = 0; i < values.size(); ++i) text << (i ? separator : "") << values[i];
  return text.str();
}

std::string text_of(const std::vector<std::vector<std::size_t>>& plan) {
  std::vector<std::string> buckets;
  for (const auto& bucket : plan) buckets.push_back(joined(bucket, ","));
  return joined(buckets, ";");
}

// "name first|rebuilt" → plan
using Plans = std::map<std::string, std::string>;

Plans plans_of_pytorch() {
  const trace::test::Folder folder;
  std::vector<std::string> shapes;
  for (const auto& shape : kShapes) shapes.push_back(joined(shape, "x"));
  std::string command = std::string(SHARDLENS_TORCH_PYTHON) + " " + SHARDLENS_SOURCE_DIR +
                        "/tests/trainer/strategy/ddp/oracle_buckets.py " +
                        (folder / "store").string() + " " + joined(shapes, ",") + " " +
                        joined(kUseOrder, ",");
  for (const Case& each : cases()) command += " " + each.name + ":" + each.python;
  const std::string log = (folder / "store").string() + ".log";
  FILE* output = popen((command + " 2>" + log).c_str(), "r");
  std::string text;
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) text += static_cast<char>(c);
  std::stringstream said;
  said << std::ifstream(log).rdbuf();
  EXPECT_EQ(pclose(output), 0) << said.str();
  Plans plans;
  std::istringstream lines(text);
  for (std::string name, which, plan; lines >> name >> which >> plan;) {
    plans[name + " " + which] = plan;
  }
  return plans;
}

void add_plans(comm::Communicator& communicator, profiler::recorder::Recorder& recorder,
               const Case& each, Plans& plans) {
  std::vector<tensor::NamedTensor> parameters;
  for (const auto& shape : kShapes) {
    parameters.push_back({"values." + std::to_string(parameters.size()),
                          torch::full(shape, 0.01).set_requires_grad(true)});
  }
  DataParallel replica(parameters, {}, communicator, recorder, each.options);
  // A static graph is rebuilt one step later than the others.
  for (int step = 0; step < 3; ++step) {
    replica.zero_gradients();
    replica.before_forward();
    plans[each.name + (step == 0 ? " first" : " rebuilt")] = text_of(replica.bucket_plan());
    auto total = torch::ones({});
    for (const std::size_t i : kUseOrder) {
      total = total * 0.5 + (parameters[i].tensor * parameters[i].tensor).sum();
    }
    replica.before_backward(total);
    total.backward();
    replica.after_backward();
  }
}

TEST(BucketPlan, EqualsWhatPyTorchBuildsBeforeAndAfterTheRebuild) {
  const Plans expected = plans_of_pytorch();
  ASSERT_EQ(expected.size(), 2 * cases().size());
  EXPECT_NE(expected.at("default rebuilt"), expected.at("cap25 rebuilt")) << "the cases tell apart";
  EXPECT_NE(expected.at("cap1 rebuilt"), expected.at("cap4 rebuilt"));

  std::vector<Plans> plans(2);
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    for (const Case& each : cases()) {
      add_plans(communicator, recorder, each, plans[static_cast<std::size_t>(communicator.rank())]);
    }
  });
  EXPECT_EQ(plans[0], expected);
  EXPECT_EQ(plans[1], expected);
}

}  // namespace
}  // namespace shardlens::trainer::strategy
