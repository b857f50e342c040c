// The entry point that NVTX looks for in the library that NVTX_INJECTION64_PATH names, and the
// functions that take the place of NVTX's own, which do nothing.
#include <atomic>
#include <climits>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "profiler/inject/injected_process.h"
#include "profiler/inject/nvtx_abi.h"
#include "profiler/inject/steps/range_names.h"

namespace shardlens::profiler::inject {
namespace {

// Handles stay valid to the end of the process, as NVTX's users expect.
struct Domain {
  static constexpr int kUnknown = INT_MIN;

  const std::string name;
  const bool is_of_library = is_of_a_library(name);
  std::atomic<int> id = kUnknown;  // RangeRecorder's
};
struct Handles {
  std::mutex mutex;
  std::deque<Domain> domains;
  std::deque<std::string> strings;
};
Handles& handles() {
  static auto* all = new Handles;
  return *all;
}

std::string utf8(const wchar_t* text) {
  std::string out;
  for (; text != nullptr && *text != 0; ++text) {
    const auto c = static_cast<std::uint32_t>(*text);
    if (c < 0x80) {
      out += static_cast<char>(c);
    } else if (c < 0x800) {
      out += {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
    } else if (c < 0x10000) {
      out += {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
              static_cast<char>(0x80 | (c & 0x3f))};
    } else {
      out += {static_cast<char>(0xf0 | (c >> 18 & 0x7)), static_cast<char>(0x80 | (c >> 12 & 0x3f)),
              static_cast<char>(0x80 | (c >> 6 & 0x3f)), static_cast<char>(0x80 | (c & 0x3f))};
    }
  }
  return out;
}

std::string_view text_of(const char* text) { return text == nullptr ? "range" : text; }

// Hands the message of a range to `use`; `storage` holds it if it had to be converted.
std::string_view message_of(const nvtx::EventAttributes* attributes, std::string& storage) {
  if (attributes == nullptr || attributes->size < sizeof *attributes ||
      attributes->message == nullptr) {
    return "range";
  }
  switch (attributes->message_type) {
    case nvtx::kAscii:
      return static_cast<const char*>(attributes->message);
    case nvtx::kUnicode:
      return storage = utf8(static_cast<const wchar_t*>(attributes->message));
    case nvtx::kRegistered:
      return *static_cast<const std::string*>(attributes->message);
    default:
      return "range";
  }
}

int id_of(RangeRecorder& ranges, Domain* domain) {
  if (domain == nullptr) return 0;
  if (domain->id.load(std::memory_order_relaxed) == Domain::kUnknown)
    domain->id = ranges.domain(domain->name);
  return domain->id;
}

// A range of the program's own begins the recording. One of a library does not: NCCL's are there
// before it tells which rank this is.
RangeRecorder* recorder_of(const Domain* domain) {
  InjectedProcess* process = InjectedProcess::current();
  if (process == nullptr) return nullptr;
  return domain != nullptr && domain->is_of_library ? process->ranges() : process->ranges_of_work();
}

// A recorder that is gone or broken must not end the program that it was put into.
template <typename Result, typename Use>
Result with_ranges(const Domain* domain, Result otherwise, Use&& use) noexcept {
  try {
    RangeRecorder* ranges = recorder_of(domain);
    return ranges == nullptr ? otherwise : use(*ranges);
  } catch (...) {
    return otherwise;
  }
}

int push(Domain* domain, std::string_view name) noexcept {
  return with_ranges(domain, -1,
                     [&](RangeRecorder& to) { return to.push(id_of(to, domain), name); });
}
int pop(Domain* domain) noexcept {
  return with_ranges(domain, -1, [&](RangeRecorder& to) { return to.pop(id_of(to, domain)); });
}
std::uint64_t start(Domain* domain, std::string_view name) noexcept {
  return with_ranges(domain, std::uint64_t{0},
                     [&](RangeRecorder& to) { return to.start(id_of(to, domain), name); });
}
// 0: it began before the recording.
void end(std::uint64_t range) noexcept {
  if (range == 0) return;
  with_ranges(nullptr, 0, [&](RangeRecorder& to) {
    to.end(range);
    return 0;
  });
}

// ---- what NVTX calls; the names are those of its functions without "nvtx"

int domain_range_push_ex(Domain* domain, const nvtx::EventAttributes* attributes) {
  std::string storage;
  return push(domain, message_of(attributes, storage));
}
int domain_range_pop(Domain* domain) { return pop(domain); }
std::uint64_t domain_range_start_ex(Domain* domain, const nvtx::EventAttributes* attributes) {
  std::string storage;
  return start(domain, message_of(attributes, storage));
}
void domain_range_end(Domain*, std::uint64_t range) { end(range); }

int range_push_ex(const nvtx::EventAttributes* attributes) {
  return domain_range_push_ex(nullptr, attributes);
}
int range_push_a(const char* name) { return push(nullptr, text_of(name)); }
int range_push_w(const wchar_t* name) { return push(nullptr, utf8(name)); }
int range_pop() { return pop(nullptr); }
std::uint64_t range_start_ex(const nvtx::EventAttributes* attributes) {
  return domain_range_start_ex(nullptr, attributes);
}
std::uint64_t range_start_a(const char* name) { return start(nullptr, text_of(name)); }
std::uint64_t range_start_w(const wchar_t* name) { return start(nullptr, utf8(name)); }
void range_end(std::uint64_t range) { end(range); }

Domain* create_domain(std::string_view name) {
  const std::lock_guard lock(handles().mutex);
  return &handles().domains.emplace_back(std::string(name));
}
Domain* domain_create_a(const char* name) { return create_domain(text_of(name)); }
Domain* domain_create_w(const wchar_t* name) { return create_domain(utf8(name)); }

std::string* register_string(std::string_view text) {
  const std::lock_guard lock(handles().mutex);
  return &handles().strings.emplace_back(text);
}
std::string* domain_register_string_a(const Domain*, const char* text) {
  return register_string(text_of(text));
}
std::string* domain_register_string_w(const Domain*, const wchar_t* text) {
  return register_string(utf8(text));
}

class FunctionTable {
 public:
  FunctionTable(const nvtx::Callbacks& callbacks, nvtx::Module module) {
    if (callbacks.module_table(module, &places_, &size_) == 0) size_ = 0;
  }
  template <typename F>
  void set(std::uint32_t call, F* function) {
    if (call < size_ && places_[call] != nullptr)
      *places_[call] = reinterpret_cast<nvtx::Function>(function);
  }

 private:
  nvtx::Function** places_ = nullptr;
  unsigned size_ = 0;
};

void attach(const nvtx::Callbacks& callbacks) {
  FunctionTable core(callbacks, nvtx::kCore);
  core.set(nvtx::kRangePushEx, range_push_ex);
  core.set(nvtx::kRangePushA, range_push_a);
  core.set(nvtx::kRangePushW, range_push_w);
  core.set(nvtx::kRangePop, range_pop);
  core.set(nvtx::kRangeStartEx, range_start_ex);
  core.set(nvtx::kRangeStartA, range_start_a);
  core.set(nvtx::kRangeStartW, range_start_w);
  core.set(nvtx::kRangeEnd, range_end);
  FunctionTable core2(callbacks, nvtx::kCore2);
  core2.set(nvtx::kDomainRangePushEx, domain_range_push_ex);
  core2.set(nvtx::kDomainRangePop, domain_range_pop);
  core2.set(nvtx::kDomainRangeStartEx, domain_range_start_ex);
  core2.set(nvtx::kDomainRangeEnd, domain_range_end);
  core2.set(nvtx::kDomainCreateA, domain_create_a);
  core2.set(nvtx::kDomainCreateW, domain_create_w);
  core2.set(nvtx::kDomainRegisterStringA, domain_register_string_a);
  core2.set(nvtx::kDomainRegisterStringW, domain_register_string_w);
}

}  // namespace
}  // namespace shardlens::profiler::inject

// Called inside the first call of each library that uses NVTX. 0: NVTX stays switched off there.
extern "C" int InitializeInjectionNvtx2(
    shardlens::profiler::inject::nvtx::GetExportTable export_table) {
  using namespace shardlens::profiler::inject;
  if (InjectedProcess::current() == nullptr) return 0;
  const auto* callbacks = static_cast<const nvtx::Callbacks*>(export_table(nvtx::kCallbacks));
  if (callbacks == nullptr || callbacks->struct_size < sizeof *callbacks) return 0;
  attach(*callbacks);
  return 1;
}
