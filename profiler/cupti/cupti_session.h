// CUPTI recording in this process: one session from the moment it is switched on, whoever takes in
// what it records. Never freed and never switched off: doing so mid-run is unsafe, and CUPTI may
// hold buffers until the process ends. Any thread.
#pragma once

#include <cstddef>
#include <mutex>
#include <string>

#include "profiler/cupti/api/cupti_api.h"
#include "profiler/cupti/buffer_pool.h"
#include "profiler/cupti/cupti_source.h"
#include "profiler/cupti/graphs/graph_watch.h"

namespace shardlens::profiler::cupti {

class CuptiSession {
 public:
  // Null: none, or it has ended.
  static CuptiSession* active();
  // Makes the active session: CUPTI records from here on. There must be none yet.
  static trace::base::Result<CuptiSession*> begin(const CuptiOptions& options);
  // The active one, else a new one, for one source. kFailed if another has it.
  static trace::base::Result<CuptiSession*> take(const CuptiOptions& options);
  // Its buffers are refused from now on.
  static void end();

  // Before it is taken: whether the GPU did anything yet; see CuptiSource::has_work().
  bool has_work(bool is_forced);
  // Before it is taken: how many buffers are full.
  std::size_t held_buffers();

  const CuptiApi& api() const { return api_; }
  CuptiBufferPool& pool() { return pool_; }
  // Kinds of records that CUPTI does not make; "" if it makes all.
  const std::string& refused() const { return refused_; }
  // Null: nobody watches graphs.
  GraphNodes* graph_nodes() { return sees_graphs_ ? &graphs_.nodes() : nullptr; }
  const std::string& graphs_refused() const { return graphs_refused_; }

 private:
  CuptiSession(const CuptiApi& api, std::size_t buffers)
      : api_(api), pool_(buffers), graphs_(api_) {}

  const CuptiApi api_;
  CuptiBufferPool pool_;
  GraphWatch graphs_;
  bool sees_graphs_ = false;
  std::string graphs_refused_;
  std::string refused_;
  std::mutex mutex_;  // guards what follows, and the pool's completed buffers until it is taken
  bool is_taken_ = false;
};

}  // namespace shardlens::profiler::cupti
