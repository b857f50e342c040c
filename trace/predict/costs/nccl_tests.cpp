#include "trace/predict/costs/nccl_tests.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/median.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/model/traffic.h"

namespace shardlens::trace::predict {

namespace fs = std::filesystem;
using base::ErrorKind;
using base::Result;
using model::CollectiveFunction;

namespace {

constexpr std::int64_t kLargestTable = std::int64_t{16} << 20;
constexpr int kMostListedRanks = 1 << 20;

constexpr std::array<std::pair<std::string_view, CollectiveFunction>, 8> kPrograms{{
    {"all_reduce", CollectiveFunction::kAllReduce},
    {"all_gather", CollectiveFunction::kAllGather},
    {"reduce_scatter", CollectiveFunction::kReduceScatter},
    {"broadcast", CollectiveFunction::kBroadcast},
    {"alltoall", CollectiveFunction::kAllToAll},
    {"all_to_all", CollectiveFunction::kAllToAll},
    {"reduce", CollectiveFunction::kReduce},
    {"sendrecv", CollectiveFunction::kSend},
}};

constexpr std::string_view kProgramSuffix = "_perf";

std::vector<std::string_view> words_of(std::string_view line, bool by_commas) {
  std::vector<std::string_view> words;
  if (by_commas) {
    for (const std::string_view word : base::split(line, ',')) words.push_back(base::trimmed(word));
    return words;
  }
  while (!(line = base::trimmed(line)).empty()) {
    const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
    words.push_back(line.substr(0, end));
    line.remove_prefix(end);
  }
  return words;
}

// The number behind "nranks " and the like; of several the first.
std::optional<std::int64_t> number_after(std::string_view line, std::string_view label) {
  const std::size_t at = line.find(label);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = base::trimmed(line.substr(at + label.size()));
  rest = rest.substr(0, std::min(rest.find_first_not_of("0123456789"), rest.size()));
  return base::number_from<std::int64_t>(rest);
}

// Where things stand in a row. Those behind the type are counted from the end: older versions leave
// the columns between them empty for collectives that have no operation or root.
struct Columns {
  bool by_commas = false;
  std::size_t count = 0;
  std::size_t time_from_end = 0;
  std::optional<std::size_t> algbw_from_end, busbw_from_end;
  double time_unit_ns = 1000;
};

std::optional<double> unit_ns(std::string_view text) {
  if (text.find("(ns)") != std::string_view::npos) return 1.0;
  if (text.find("(us)") != std::string_view::npos) return 1e3;
  if (text.find("(ms)") != std::string_view::npos) return 1e6;
  return std::nullopt;
}

// "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time  algbw  busbw  #wrong", or
// "size(B),count,type,time(ns),busbw(GB/s),…".
std::optional<Columns> columns_of(std::string_view line) {
  while (line.starts_with('#')) line = base::trimmed(line.substr(1));
  Columns columns;
  columns.by_commas = line.find(',') != std::string_view::npos;
  const auto words = words_of(line, columns.by_commas);
  if (words.size() < 4 || !words[0].starts_with("size") || !words[1].starts_with("count") ||
      !words[2].starts_with("type")) {
    return std::nullopt;
  }
  columns.count = words.size();
  const auto from_end = [&](std::string_view name) -> std::optional<std::size_t> {
    for (std::size_t i = 3; i < words.size(); ++i) {
      if (words[i].starts_with(name)) return words.size() - i;
    }
    return std::nullopt;
  };
  const auto time = from_end("time");
  if (!time) return std::nullopt;
  columns.time_from_end = *time;
  columns.algbw_from_end = from_end("algbw");
  columns.busbw_from_end = from_end("busbw");
  columns.time_unit_ns = unit_ns(words[words.size() - *time]).value_or(columns.time_unit_ns);
  return columns;
}

class TableReader {
 public:
  explicit TableReader(std::string name) : name_(std::move(name)) {}

  Result<void> read(std::string_view text) {
    for (const std::string_view whole : base::split(text, '\n')) {
      ++line_number_;
      const std::string_view line = base::trimmed(whole);
      if (line.empty()) continue;
      TRY(read_program(line));
      if (const auto columns = columns_of(line)) {
        columns_ = columns;
      } else if (line.front() == '#') {
        read_header(line);
      } else if (line.front() >= '0' && line.front() <= '9') {
        TRY(read_row(line));
      }
    }
    return {};
  }

  Result<NcclTestsTable> take() {
    if (!columns_ || table_.rows.empty()) {
      return base::fail(ErrorKind::kForeign,
                        name_ +
                            " holds no table of nccl-tests: no rows under size, count, type "
                            "and time. Give what all_reduce_perf prints.");
    }
    table_.ranks = listed_ranks_ > 0 ? listed_ranks_ : told_ranks_;
    table_.hosts = static_cast<int>(hosts_.size());
    if (devices_.size() == 1) table_.device_name = *devices_.begin();
    return std::move(table_);
  }

 private:
  Result<void> damaged(const std::string& what) const {
    return base::fail(ErrorKind::kDamaged,
                      name_ + ", line " + std::to_string(line_number_) + ": " + what + ".");
  }

  // "# Collective test starting: all_reduce_perf", or the command that printed the table.
  Result<void> read_program(std::string_view line) {
    for (const auto& [program, function] : kPrograms) {
      const std::string executable = std::string(program) + std::string(kProgramSuffix);
      const std::size_t at = line.find(executable);
      const bool is_whole =
          at != std::string_view::npos &&
          (at == 0 || std::string_view(" /:").find(line[at - 1]) != std::string_view::npos);
      if (!is_whole) continue;
      if (table_.function.value_or(function) != function) {
        return damaged("this is another collective than the one before; give a file for each");
      }
      table_.function = function;
    }
    return {};
  }

  void read_header(std::string_view line) {
    if (const auto ns = unit_ns(line); ns && columns_) columns_->time_unit_ns = *ns;
    if (const auto count = number_after(line, "nranks")) tell_ranks(*count);
    if (const auto count = number_after(line, " iters: ")) {
      // "warmup iters: 5 iters: 20 agg iters: 1"
      const std::size_t warmup = line.find("warmup iters:");
      const auto own = warmup == std::string_view::npos
                           ? count
                           : number_after(line.substr(warmup + 13), " iters: ");
      if (own && *own > 0) table_.iterations = own;
    }
    if (const auto library = number_after(line, "nccl-library=")) {
      table_.versions = "NCCL " + std::to_string(*library / 10000) + "." +
                        std::to_string(*library / 100 % 100) + "." + std::to_string(*library % 100);
    }
    read_rank(line);
  }

  void tell_ranks(std::int64_t count) {
    if (count > 0 && count <= kMostListedRanks) told_ranks_ = static_cast<int>(count);
  }

  // "#  Rank  0 Group  0 Pid  21372 on   dgx1 device  0 [0000:07:00] NVIDIA H100 80GB HBM3"
  void read_rank(std::string_view line) {
    const auto words = words_of(line.substr(1), false);
    if (words.size() < 4 || words[0] != "Rank" || !base::number_from<std::int64_t>(words[1]))
      return;
    if (listed_ranks_ == kMostListedRanks) return;
    ++listed_ranks_;
    for (std::size_t i = 0; i + 1 < words.size(); ++i) {
      if (words[i] != "on") continue;
      if (table_.host.empty()) table_.host = base::printable_line(words[i + 1]);
      hosts_.emplace(words[i + 1]);
      break;
    }
    const std::size_t bracket = line.find(']');
    const auto device =
        bracket == std::string_view::npos ? "" : base::trimmed(line.substr(bracket + 1));
    devices_.insert(base::printable_line(device));
  }

  Result<void> read_row(std::string_view line) {
    if (!columns_) return {};  // of another program's output
    const auto words = words_of(line, columns_->by_commas);
    const std::size_t least = 3 + columns_->time_from_end;
    if (words.size() < least || words.size() > columns_->count) {
      return damaged("a row of " + std::to_string(words.size()) + " columns under a heading of " +
                     std::to_string(columns_->count));
    }
    const auto from_end = [&](std::size_t place) { return words[words.size() - place]; };
    const auto bytes = base::number_from<std::int64_t>(words[0]);
    const auto time = base::number_from<double>(from_end(columns_->time_from_end));
    if (!bytes || !model::is_plausible_size(*bytes)) {
      return damaged("the size \"" + base::printable_line(base::shortened(words[0], 40)) +
                     "\" is no number of bytes");
    }
    if (!time || *time < 0 || *time > 1e15) {
      const std::string_view text = from_end(columns_->time_from_end);
      return damaged("the time \"" + base::printable_line(base::shortened(text, 40)) +
                     "\" is no duration");
    }
    if (table_.data_type.empty()) table_.data_type = base::printable_line(words[2]);
    NcclTestsTable::Row row{*bytes, *time * columns_->time_unit_ns};
    if (columns_->busbw_from_end) {
      const auto bus = base::number_from<double>(from_end(*columns_->busbw_from_end)).value_or(0);
      double algorithm = row.ns > 0 ? static_cast<double>(row.bytes) / row.ns : 0;  // GB/s
      if (columns_->algbw_from_end) {
        algorithm = base::number_from<double>(from_end(*columns_->algbw_from_end)).value_or(0);
      }
      // Two digits behind the point tell nothing of less.
      if (algorithm >= 1) row.bus_factor = bus / algorithm;
    }
    table_.rows.push_back(row);
    return {};
  }

  const std::string name_;
  std::size_t line_number_ = 0;
  std::optional<Columns> columns_;
  NcclTestsTable table_;
  int listed_ranks_ = 0, told_ranks_ = 0;
  std::set<std::string, std::less<>> hosts_, devices_;
};

double median_bus_factor(const NcclTestsTable& table) {
  std::vector<double> factors;
  for (const auto& row : table.rows) {
    if (row.bus_factor > 0) factors.push_back(row.bus_factor);
  }
  return factors.empty() ? 0 : base::upper_median(std::move(factors));
}

Result<std::vector<CostRow>> wrong_use(const std::string& name, const std::string& what) {
  return base::fail(ErrorKind::kUsage, name + " " + what);
}

}  // namespace

std::optional<CollectiveFunction> nccl_tests_function(std::string_view name) {
  if (name.ends_with(kProgramSuffix)) name.remove_suffix(kProgramSuffix.size());
  for (const auto& [program, function] : kPrograms) {
    if (name == program) return function;
  }
  return std::nullopt;
}

Result<NcclTestsTable> parse_nccl_tests(std::string_view text, const std::string& name) {
  TableReader reader(name);
  TRY(reader.read(text));
  return reader.take();
}

Result<NcclTestsTable> read_nccl_tests(const fs::path& path) {
  const std::string name = base::quoted(path);
  std::error_code error;
  const auto status = fs::status(path, error);
  if (!fs::exists(status)) return base::fail(ErrorKind::kMissing, name + " does not exist.");
  if (!fs::is_regular_file(status) || base::file_size_or_zero(path) > kLargestTable) {
    return base::fail(ErrorKind::kForeign, name + " is no text file of nccl-tests.");
  }
  const auto text = base::whole_text(path);
  if (!text) return base::fail(ErrorKind::kIo, name + " cannot be read. May you read it?");
  return parse_nccl_tests(*text, name);
}

Result<std::vector<CostRow>> cost_rows(const NcclTestsTable& table, const std::string& name,
                                       std::optional<CollectiveFunction> function, int ranks) {
  if (!table.function && !function) {
    return wrong_use(name,
                     "does not say which collective it measured: give --function all_reduce, "
                     "all_gather, reduce_scatter or broadcast.");
  }
  if (table.function && function && *table.function != *function) {
    return wrong_use(name, "is of " + std::string(to_string(*table.function)) + ", not of " +
                               std::string(to_string(*function)) + ": leave --function out.");
  }
  if (table.ranks == 0 && ranks == 0) {
    return wrong_use(name, "does not say between how many ranks it measured: give --ranks N.");
  }
  if (table.ranks != 0 && ranks != 0 && table.ranks != ranks) {
    return wrong_use(name, "was measured between " + std::to_string(table.ranks) + " ranks, not " +
                               std::to_string(ranks) + ": leave --ranks out.");
  }
  const CollectiveKind kind{table.function ? *table.function : *function,
                            table.ranks != 0 ? table.ranks : ranks};
  const double told = median_bus_factor(table);
  const double expected = model::bus_factor(kind.function, kind.ranks);
  if (told > 0 && std::abs(told / expected - 1) > 0.02) {
    return wrong_use(name, "is not of " + std::string(to_string(kind.function)) + " between " +
                               std::to_string(kind.ranks) +
                               " ranks: by its columns busbw is another multiple of algbw. Mend "
                               "--function or --ranks.");
  }
  std::vector<CostRow> rows;
  for (const auto& row : table.rows) {
    if (row.bytes > 0 && row.ns > 0) {
      rows.push_back({kind, row.bytes, table.iterations, row.ns, std::nullopt, std::nullopt});
    }
  }
  if (rows.empty()) return wrong_use(name, "has no row with a size and a time.");
  return rows;
}

}  // namespace shardlens::trace::predict
