// A controller over a library of its own, with jobs that do nothing.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "app/session/controller.h"
#include "tests/app/session/eventually.h"
#include "tests/app/session/fake_job.h"
#include "tests/app/session/synthetic_run.h"

namespace shardlens::app::session {

struct ControllerTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path runs = folder.path() / "runs";
  FakeJobs jobs;
  std::unique_ptr<Controller> controller;

  void open(std::function<void(ControllerOptions&)> change = [](ControllerOptions&) {}) {
    ControllerOptions options;
    options.runs_dir = runs;
    options.start_job = jobs.starter();
    change(options);
    controller = std::make_unique<Controller>(options, [] {});
  }
  template <typename Condition>
  bool becomes(Condition condition) {
    return eventually([&] { return condition(*controller->snapshot()); });
  }
  std::filesystem::path write_run(const std::string& name, double cap, std::int64_t age = 0) {
    SyntheticOptions options;
    options.name = name;
    options.start_ns += age;
    options.settings.bucket_cap_mb = cap;
    return finished_run(runs, options);
  }
  ControllerTest() { std::filesystem::create_directory(runs); }
};

}  // namespace shardlens::app::session
