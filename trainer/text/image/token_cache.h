// Encoded texts on disk, for the next run and for the other ranks of this machine. Any thread; any
// number of processes at once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "trace/base/result.h"
#include "trainer/text/image/encoded_text.h"
#include "trainer/text/image/token_file.h"

namespace shardlens::trainer::text {

// Gets what the environment has of a name, null if nothing.
using EnvironmentLookup = std::function<const char*(const char* name)>;

// $XDG_CACHE_HOME/shardlens/tokens, else ~/.cache/shardlens/tokens; empty if neither is known.
std::filesystem::path default_token_cache(const EnvironmentLookup& lookup);

class TokenCache {
 public:
  // Whoever writes an entry deletes the longest unused ones beyond this.
  static constexpr std::uint64_t kLimitBytes = std::uint64_t{64} << 30;

  using Encode = std::function<trace::base::Result<MappedImage>(TokenFile&)>;
  using Warn = std::function<void(const std::string& message)>;
  using IsStopped = std::function<bool()>;

  // `folder` empty: everything is encoded in memory. `warn` hears why that has to be, too, and of
  // damaged entries. `is_stopped`, if any, is asked while another process is waited for; true:
  // nobody shall wait any longer.
  TokenCache(std::filesystem::path folder, Warn warn, IsStopped is_stopped = nullptr,
             std::uint64_t limit_bytes = kLimitBytes)
      : folder_(std::move(folder)),
        warn_(std::move(warn)),
        is_stopped_(std::move(is_stopped)),
        limit_bytes_(limit_bytes) {}

  // The entry of this key, or what `encode` makes. Of several processes one encodes, and the others
  // wait for it; if it dies one of them goes on. Errors are those of `encode`; kFailed: waiting was
  // stopped.
  trace::base::Result<EncodedText> get(std::uint64_t key, const Encode& encode) const;

  std::filesystem::path file_of(std::uint64_t key) const;

 private:
  trace::base::Result<EncodedText> find(std::uint64_t key) const;
  trace::base::Result<EncodedText> make(std::uint64_t key, const Encode& encode) const;
  trace::base::Result<EncodedText> make_in_memory(std::uint64_t key, const Encode& encode) const;
  void delete_oldest(const std::filesystem::path& kept) const;

  std::filesystem::path folder_;
  Warn warn_;
  IsStopped is_stopped_;
  std::uint64_t limit_bytes_;
};

}  // namespace shardlens::trainer::text
