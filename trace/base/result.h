// Expected failures as values: Result<T>, Error and TRY. Any thread.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace shardlens::trace::base {

// Decides the exit code and the tone: wrong use is the caller's to mend, the rest is the world's.
enum class ErrorKind {
  kUsage,         // wrong option, key, value, name or combination: exit code 2
  kMissing,       // a file, run or rank that is not there
  kDamaged,       // truncated or inconsistent
  kForeign,       // a readable file of another program
  kOtherVersion,  // written by another version
  kDiskFull,      // no space, or a size limit of the system
  kIo,            // any other failure of the system
  kFailed,        // a job or a check failed
};

// `message` says what failed, why, and what to do; one to three sentences, no trailing newline.
struct Error {
  ErrorKind kind = ErrorKind::kIo;
  std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string message) {
  return tl::unexpected<Error>(Error{kind, std::move(message)});
}

}  // namespace shardlens::trace::base

#define SHARDLENS_CONCAT_(a, b) a##b
#define SHARDLENS_CONCAT(a, b) SHARDLENS_CONCAT_(a, b)

// TRY(expression): returns the error of a Result<void>.
#define TRY(...)                                                                   \
  do {                                                                             \
    auto shardlens_result_ = (__VA_ARGS__);                                        \
    if (!shardlens_result_) return tl::make_unexpected(shardlens_result_.error()); \
  } while (false)

// TRY_ASSIGN(declaration, expression): binds the value of a Result<T>, or returns its error.
#define TRY_ASSIGN(declaration, ...)                                                  \
  auto SHARDLENS_CONCAT(shardlens_value_, __LINE__) = (__VA_ARGS__);                  \
  if (!SHARDLENS_CONCAT(shardlens_value_, __LINE__))                                  \
    return tl::make_unexpected(SHARDLENS_CONCAT(shardlens_value_, __LINE__).error()); \
  declaration = std::move(*SHARDLENS_CONCAT(shardlens_value_, __LINE__))
