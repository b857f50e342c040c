#include "profiler/cupti/cupti_session.h"

#include <atomic>
#include <utility>
#include <variant>

#include "profiler/cupti/api/activity.h"
#include "profiler/cupti/buffer_pool.h"
#include "profiler/cupti/enable_activities.h"

namespace shardlens::profiler::cupti {
namespace {

// CUPTI's callbacks carry no context, so this is how they find their buffers.
std::atomic<CuptiSession*> active_session{nullptr};
// Outlive every session: kinds stay enabled, so CUPTI goes on asking.
std::atomic<bool> refusal_crashes{false};
CuptiSpareBuffers spare_buffers;

void CUPTIAPI on_buffer_requested(std::uint8_t** buffer, std::size_t* size,
                                  std::size_t* max_records) {
  CuptiSession* session = CuptiSession::active();
  *buffer = session == nullptr ? nullptr : session->pool().request();
  if (*buffer == nullptr && refusal_crashes) *buffer = spare_buffers.request();
  *size = *buffer == nullptr ? 0 : CuptiBufferPool::kBufferBytes;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                                  std::size_t valid_bytes) {
  if (refusal_crashes && spare_buffers.complete(buffer)) return;
  if (CuptiSession* session = CuptiSession::active()) session->pool().complete(buffer, valid_bytes);
}

trace::base::Result<CuptiApi> choose_api(const CuptiOptions& options) {
  if (options.api != nullptr) return *options.api;
  return load_cupti(options.library);
}

// Setting CUDA up makes records, too, as does a wait of those who launched nothing.
bool is_work(const CUpti_Activity& record) {
  const auto activity = decode(record);
  return activity && !std::holds_alternative<WaitActivity>(*activity);
}

bool holds_work(const CuptiApi& api, std::uint8_t* buffer, std::size_t bytes) {
  CUpti_Activity* record = nullptr;
  while (api.get_next_record(buffer, bytes, &record) == CUPTI_SUCCESS)
    if (is_work(*record)) return true;
  return false;
}

}  // namespace

CuptiSession* CuptiSession::active() { return active_session.load(std::memory_order_acquire); }

trace::base::Result<CuptiSession*> CuptiSession::begin(const CuptiOptions& options) {
  TRY_ASSIGN(const CuptiApi api, choose_api(options));
  TRY_ASSIGN(const std::uint32_t version, check_version(api));
  refusal_crashes = version < CuptiSpareBuffers::kFirstVersionThatTakesNone;
  // Not freed even after a failure: CUPTI may have asked for a buffer all the same.
  CuptiSession& session = *new CuptiSession(api, options.buffers);
  active_session = &session;
  if (options.graphs) {
    session.graphs_refused_ = session.graphs_.start();
    session.sees_graphs_ = session.graphs_refused_.empty();
  }
  auto refused = enable_activities(session.api_, on_buffer_requested, on_buffer_completed);
  if (!refused) {
    session.graphs_.stop();
    end();
    return tl::make_unexpected(refused.error());
  }
  session.refused_ = std::move(*refused);
  return &session;
}

trace::base::Result<CuptiSession*> CuptiSession::take(const CuptiOptions& options) {
  CuptiSession* session = active();
  if (session == nullptr) {
    TRY_ASSIGN(session, begin(options));
  }
  const std::lock_guard lock(session->mutex_);
  if (std::exchange(session->is_taken_, true))
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "GPU activity is recorded already: one CuptiSource per process.");
  return session;
}

void CuptiSession::end() { active_session = nullptr; }

bool CuptiSession::has_work(bool is_forced) {
  const std::lock_guard lock(mutex_);
  if (is_taken_) return true;
  api_.flush_all(is_forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
  return pool_.drop_until(
      [this](std::uint8_t* buffer, std::size_t bytes) { return holds_work(api_, buffer, bytes); });
}

std::size_t CuptiSession::held_buffers() {
  const std::lock_guard lock(mutex_);
  return is_taken_ ? 0 : pool_.completed();
}

}  // namespace shardlens::profiler::cupti
