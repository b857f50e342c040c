#include "trace/store/run/output_file.h"

#include <system_error>

#include "trace/base/file_system.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

base::Result<void> check_output(const fs::path& output, bool overwrite, std::string_view example) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(output, error))) return {};
  if (fs::is_directory(output, error)) {
    return base::fail(
        base::ErrorKind::kUsage,
        base::quoted(output) + " is a folder: name a file, such as " + std::string(example));
  }
  if (overwrite) return {};
  return base::fail(
      base::ErrorKind::kUsage,
      base::quoted(output) + " exists already: choose another name, or give --overwrite");
}

base::Result<void> publish_output(const fs::path& unfinished, const fs::path& output,
                                  bool overwrite) {
  if (!overwrite) return base::publish_file(unfinished, output);
  std::error_code error;
  fs::rename(unfinished, output, error);
  if (error) return cannot_write(output, error.value());
  return {};
}

tl::unexpected<base::Error> cannot_write(const fs::path& output, int code) {
  return base::fail(base::write_error_kind(code),
                    base::quoted(output) +
                        " cannot be written. Is there space, and may you write to that folder?");
}

}  // namespace shardlens::trace::store
