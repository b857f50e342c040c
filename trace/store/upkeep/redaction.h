// What a run tells of the machine and the people it was recorded with (host names, process ids,
// folders, the recorded program's command line), taken out of what is given away. One thread.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

class Redaction {
 public:
  // Learns from a run's files what is to be left out.
  static base::Result<Redaction> of(const std::vector<Database*>& files);

  // What somebody wrote freely, say a line of a log: without hosts, process ids, absolute paths
  // (their last name stays, where it is not a person's folder) and words of the command line.
  std::string text(std::string_view text) const;
  // The name of an operator, a parameter, a phase: without hosts, absolute paths and what PyTorch
  // calls traces.
  std::string name(std::string_view name) const;
  // "host-1" for the first.
  std::string host(std::string_view host) const;

  // Makes these SQL functions of a connection; this object must outlive it.
  base::Result<void> add_functions(Database& connection) const;

 private:
  std::map<std::string, std::string, std::less<>> hosts_;  // to what they are called
  std::vector<std::string> words_;                         // of the command line, and process ids
};

// What is given away of a column, as SQL with the functions above.
std::string redacted_column(std::string_view table, const Column& column);

}  // namespace shardlens::trace::store
