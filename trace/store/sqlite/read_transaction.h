// What is read while it lives comes from one commit of the writer. One thread.
#pragma once

#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

class ReadTransaction {
 public:
  explicit ReadTransaction(Database& database) : database_(database) {}
  ~ReadTransaction() { static_cast<void>(database_.execute("commit")); }
  ReadTransaction(const ReadTransaction&) = delete;
  ReadTransaction& operator=(const ReadTransaction&) = delete;
  base::Result<void> begin() { return database_.execute("begin"); }

 private:
  Database& database_;
};

}  // namespace shardlens::trace::store
