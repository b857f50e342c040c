// Uses NVTX in all the ways there are, three steps of it, and dies as its argument says: "exit"
// (the default), "fork" (a child with ranges of its own), "abort", "fault" (which it mends: it goes
// on and ends well). "ahead": others have named phases before. "phases": three steps by their
// phases alone, while another thread names iterations of its own.
//
// nvtx_program steps|hang|leave FIRST COUNT MILLISECONDS [RANGES]: nothing but so many steps,
// numbered from FIRST unless that is -, of so many phases each. "hang": says so in the last step,
// and stays there until SIGINT. "leave": ends by _exit().
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

namespace {

nvtxEventAttributes_t attributes() {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return event;
}

void work() { usleep(2000); }

// Touches a page that is not there, with a handler that brings it.
void fault() {
  static void* page = mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  *static_cast<volatile char*>(page) = 1;
}
void mend_faults() {
  struct sigaction mend = {};
  mend.sa_flags = SA_SIGINFO;
  mend.sa_sigaction = [](int, siginfo_t* info, void*) {
    if (mprotect(info->si_addr, 4096, PROT_READ | PROT_WRITE) != 0) _exit(9);
  };
  sigaction(SIGSEGV, &mend, nullptr);
}

void step(int index, nvtxDomainHandle_t domain, nvtxStringHandle_t registered) {
  nvtxRangePushA(("step " + std::to_string(index)).c_str());
  nvtxEventAttributes_t forward = attributes();
  forward.messageType = NVTX_MESSAGE_TYPE_ASCII;
  forward.message.ascii = "forward";
  nvtxRangePushEx(&forward);
  nvtxEventAttributes_t inner = attributes();
  inner.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  inner.message.registered = registered;
  nvtxDomainRangePushEx(domain, &inner);
  work();
  nvtxDomainRangePop(domain);
  nvtxRangePop();
  nvtxRangePushW(L"r\u00fcckw\u00e4rts: backward");
  std::thread([] {
    nvtxRangePushA("on another thread");
    nvtxRangePop();
  }).join();
  nvtxRangePop();
  nvtxRangePop();
}

// A thread that loads data, and, in a domain of its own, a range that has not ended when steps
// begin.
void name_phases_ahead() {
  std::thread([] {
    nvtxRangePushA("load data");
    nvtxRangePop();
  }).join();
  nvtxEventAttributes_t warm_up = attributes();
  warm_up.messageType = NVTX_MESSAGE_TYPE_ASCII;
  warm_up.message.ascii = "forward to warm up";
  nvtxDomainRangePushEx(nvtxDomainCreateA("mine"), &warm_up);
}

void step_by_phases() {
  for (const char* phase : {"forward", "backward", "optimizer"}) {
    nvtxRangePushA(phase);
    work();
    nvtxRangePop();
  }
}

void prefetch() {
  std::thread([] {
    nvtxRangePushA("prefetch iteration 7");
    nvtxRangePop();
  }).join();
}

volatile sig_atomic_t interrupted = 0;

void hang() {
  signal(SIGINT, [](int) { interrupted = 1; });
  std::puts("hangs");
  std::fflush(stdout);
  while (interrupted == 0) work();
}

void steps_as_told(const std::string& how, int argc, char** argv) {
  const bool numbered = std::strcmp(argv[2], "-") != 0;
  const int first = std::atoi(argv[2]), count = std::atoi(argv[3]);
  const int ranges = argc > 5 ? std::atoi(argv[5]) : 0;
  for (int i = 0; i < count; ++i) {
    nvtxRangePushA(numbered ? ("step " + std::to_string(first + i)).c_str() : "step");
    for (int range = 0; range < ranges; ++range) {
      nvtxRangePushA("forward");
      nvtxRangePop();
    }
    usleep(1000 * std::atoi(argv[4]));
    if (how == "hang" && i + 1 == count) hang();
    nvtxRangePop();
  }
  if (how == "leave") _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "exit";
  if (argc > 4) {
    steps_as_told(how, argc, argv);
    return 0;
  }
  if (std::strcmp(how, "fault") == 0) mend_faults();
  if (std::strcmp(how, "phases") == 0) {
    for (int i = 0; i < 3; ++i) {
      step_by_phases();
      prefetch();
    }
    return 0;
  }
  const nvtxRangeId_t whole = nvtxRangeStartA("whole program");
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("NCCL");
  const nvtxStringHandle_t registered = nvtxDomainRegisterStringA(domain, "a library's range");
  if (std::strcmp(how, "ahead") == 0) name_phases_ahead();
  for (int i = 0; i < 3; ++i) step(i, domain, registered);
  nvtxRangePop();  // one too many
  if (std::strcmp(how, "fork") == 0) {
    if (const pid_t child = fork(); child == 0) {
      nvtxRangePushA("in the child");
      nvtxRangePop();
      std::exit(0);
    } else {
      waitpid(child, nullptr, 0);
    }
  }
  if (std::strcmp(how, "fault") == 0) {
    fault();
    step(3, domain, registered);
  }
  nvtxRangeEnd(whole);
  if (std::strcmp(how, "abort") == 0) abort();
  return 0;
}
