// Tables that nccl-tests print (all_reduce_perf, all_gather_perf, …) as costs of collectives: its
// own text output of any version, or the same columns separated by commas. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/predict/costs/collective_costs.h"

namespace shardlens::trace::predict {

struct NcclTestsTable {
  // What its header tells; none, "" or 0: it does not.
  std::optional<model::CollectiveFunction> function;
  int ranks = 0;
  int hosts = 0;
  std::string device_name;                 // of all ranks; "": also where they differ
  std::string host;                        // of the first
  std::string versions;                    // "NCCL 2.28.9"
  std::string data_type;                   // "float"
  std::optional<std::int64_t> iterations;  // that each time is the mean of

  struct Row {
    std::int64_t bytes = 0;  // S: the total over ranks for gather and scatter
    double ns = 0;           // out of place
    // Bus bandwidth ÷ algorithm bandwidth, as far as the table tells both or its time; 0: not.
    double bus_factor = 0;
  };
  std::vector<Row> rows;  // as printed
};

// What is not a table is passed over. Errors, by line: kForeign, there is none; kDamaged, a row
// that cannot be read, or tables of several collectives.
base::Result<NcclTestsTable> parse_nccl_tests(std::string_view text, const std::string& name);
// Errors also kMissing and kIo.
base::Result<NcclTestsTable> read_nccl_tests(const std::filesystem::path& path);

// `all_reduce`, or a program's name, `all_reduce_perf`. None: nccl-tests measure no such thing.
std::optional<model::CollectiveFunction> nccl_tests_function(std::string_view name);

// Sizes of 0 are left out, and so are times of 0. `function` and `ranks` (0: not given) are told
// where the header does not. Errors (kUsage): nothing tells one of them, they contradict the
// header, or the table's bandwidths are those of another number of ranks.
base::Result<std::vector<CostRow>> cost_rows(const NcclTestsTable& table, const std::string& name,
                                             std::optional<model::CollectiveFunction> function,
                                             int ranks);

}  // namespace shardlens::trace::predict
