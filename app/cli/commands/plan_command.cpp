// `shardlens plan`: what a job would need, before it runs.
#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/report/plan_report.h"
#include "app/report/report_json.h"
#include "app/settings/settings_input.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::cli {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

struct PlanArguments : CommonArguments {
  std::string settings_file;
  std::vector<std::string> assignments;
  std::string gpu = "h100-80";
  std::optional<double> memory_gb;
  std::int64_t gpus_per_node = 8;
  std::int64_t nodes = 1;
};

trace::base::Result<trace::predict::PlanRequest> request_of(const PlanArguments& options) {
  trace::predict::PlanRequest request;
  if (!options.settings_file.empty()) {
    TRY_ASSIGN(const auto input, app::settings::read_settings_input(
                                     options.settings_file, options.gpus_per_node * options.nodes));
    if (input.foreign) print_lines(trace::frameworks::remarks_text(*input.foreign));
    request.settings = input.settings;
  }
  for (const auto& assignment : options.assignments) {
    TRY(trace::job::set_assignment(request.settings, assignment));
  }
  TRY_ASSIGN(request.shape, trace::job::find_planned_model(request.settings));
  if (options.memory_gb) {
    request.memory_bytes = static_cast<std::int64_t>(*options.memory_gb * kGiB);
    request.workspace_bytes = trace::predict::cublas_workspace_bytes("");
  } else {
    TRY_ASSIGN(const trace::predict::GpuModel gpu, trace::predict::find_gpu(options.gpu));
    request.memory_bytes = gpu.memory_bytes();
    request.workspace_bytes = trace::predict::cublas_workspace_bytes(gpu.title);
  }
  request.reserved_bytes = trace::predict::kReservedBytes;
  request.gpus_per_node = options.gpus_per_node;
  request.nodes = options.nodes;
  return request;
}

trace::base::Result<int> show_plan(const PlanArguments& options) {
  TRY_ASSIGN(const auto request, request_of(options));
  TRY_ASSIGN(auto plan, trace::predict::plan_job(request));
  const report::PlanReport report =
      report::report_of(std::move(plan), options.memory_gb ? "" : options.gpu);
  print_result(options.as_json() ? report::dump_json(report::plan_json(report))
                                 : report::plan_text(report));
  return kDone;
}

std::string footer() {
  std::string gpus;
  for (const auto& gpu : trace::predict::gpu_models()) gpus += " " + std::string(gpu.name);
  std::string models;
  for (const auto& shape : trace::job::planning_presets()) models += " " + shape.name;
  return "For every strategy: memory per rank, whether it fits, the largest batch, bytes sent.\n"
         "GPUs:" +
         gpus + "\nModels that can be planned for beside those that can be trained:\n  " + models +
         "\n\nExamples:\n"
         "  shardlens plan --set model=llama-8b --gpu h100-80 --gpus-per-node 8 --nodes 2\n"
         "  shardlens plan --set model=./my-model --gpus-per-node 4\n"
         "  shardlens plan job.yaml --memory-gb 24 --gpus-per-node 2 --json";
}

void add_options(CLI::App& command, PlanArguments& options) {
  command.add_option("SETTINGS", options.settings_file,
                     "A flat YAML file of settings, a ds_config.json, or Accelerate's YAML");
  add_repeated(command, "--set", options.assignments, "One setting; may be given several times",
               "KEY=VALUE");
  auto* gpu = command.add_option("--gpu", options.gpu, "Which GPU the job would run on")
                  ->type_name("NAME")
                  ->capture_default_str();
  command.add_option("--memory-gb", options.memory_gb, "Memory of another GPU, in GiB")
      ->type_name("GIB")
      ->check(between(0.001, 1e6))
      ->excludes(gpu);
  command.add_option("--gpus-per-node", options.gpus_per_node, "GPUs of one machine, a rank each")
      ->type_name("N")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--nodes", options.nodes, "Machines")
      ->type_name("M")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  add_common(command, options);
}

}  // namespace

void add_plan_command(CommandLine& line) {
  const auto [command, options] = add_command(
      line, "plan", "What every strategy would need on given GPUs, before a run", show_plan);
  add_options(*command, *options);
  command->footer(footer());
}

}  // namespace shardlens::app::cli
