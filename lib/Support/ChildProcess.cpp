//===- ChildProcess.cpp - A function in a process of its own --------------===//
//
// The child is a fork rather than another program, so that a library needs no
// path to one. It has this thread only: what waits for another thread of the
// parent, such as the thread pool of an MLIR context, waits until the limit.
//
//===----------------------------------------------------------------------===//

#include "espalier/Support/ChildProcess.h"
#include "llvm/ADT/Twine.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace espalier;
using Clock = std::chrono::steady_clock;

/// How often whoever may stop a child is asked, in milliseconds.
static constexpr int kPoll = 20;

char NoChildProcess::ID = 0;

/// Returns the bytes of addresses that this process has in use.
static uint64_t getAddressSpace() {
  unsigned long long pages = 0;
  if (FILE *file = fopen("/proc/self/statm", "r")) {
    if (fscanf(file, "%llu", &pages) != 1)
      pages = 0;
    fclose(file);
  }
  return uint64_t(pages) * sysconf(_SC_PAGESIZE);
}

static void setLimit(int resource, uint64_t value) {
  rlimit limit = {};
  getrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
  limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
  setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// Writes all of `text`, unless the reader is gone.
static void writeAll(int file, const std::string &text) {
  size_t written = 0;
  while (written < text.size()) {
    ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR)
      return;
    written += std::max<ssize_t>(count, 0);
  }
}

[[noreturn]] static void beChild(llvm::function_ref<std::string()> function,
                                 int result, uint64_t memory, pid_t parent,
                                 bool isInterruptible) {
  // A parent that is killed cannot end what hangs.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(1);
  for (int number : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTERM})
    signal(number, SIG_DFL);
  signal(SIGPIPE, SIG_IGN);
  signal(SIGINT, isInterruptible ? SIG_DFL : SIG_IGN);
  // It may be one of the first three, where the parent has closed them.
  constexpr int kResult = 3;
  dup2(result, kResult);
  int null = open("/dev/null", O_RDWR);
  for (int file : {0, 1, 2})
    dup2(null, file);
  // Another thread's child would wait for this one to close its pipe.
  close_range(kResult + 1, ~0U, 0);
  setLimit(RLIMIT_CORE, 0);
  setLimit(RLIMIT_AS, memory);
  writeAll(kResult, function());
  // Nothing of the parent's is flushed or destroyed twice.
  _exit(0);
}

/// Returns a copy of `text` with room for `size` characters.
static llvm::Expected<std::unique_ptr<llvm::WritableMemoryBuffer>>
copyText(llvm::StringRef text, size_t size) {
  auto copy = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size);
  if (!copy)
    return llvm::createStringError("expects memory for a result of " +
                                   llvm::Twine(text.size()) +
                                   " bytes, but got none");
  llvm::copy(text, copy->getBufferStart());
  return std::move(copy);
}

/// Reads until the other end is closed. Fails if that is not before `end`,
/// which is `limit` after the start, or if somebody stops it.
static llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
readAll(int file, Clock::time_point end, std::chrono::milliseconds limit,
        llvm::function_ref<bool()> mustStop) {
  auto text = copyText("", 4096);
  size_t size = 0;
  while (text) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    pollfd waiting = {file, POLLIN, 0};
    int time = std::max<int>(left.count(), 0);
    int ready = poll(&waiting, 1, mustStop ? std::min(time, kPoll) : time);
    if (mustStop && mustStop())
      return llvm::createStringError("expects a result, but is interrupted");
    if (ready == 0 && time > kPoll && mustStop)
      continue;
    if (ready == 0)
      return llvm::createStringError("expects a result within " +
                                     llvm::Twine(limit.count()) +
                                     " ms, but it takes longer");
    if (ready < 0) {
      if (errno == EINTR)
        continue;
      break;
    }
    llvm::MutableArrayRef<char> room = (*text)->getBuffer().drop_front(size);
    ssize_t count = read(file, room.data(), room.size());
    if (count == 0 || (count < 0 && errno != EINTR))
      break;
    size += std::max<ssize_t>(count, 0);
    if (size == (*text)->getBufferSize())
      text = copyText({(*text)->getBufferStart(), size}, 2 * size);
  }
  if (text)
    text = copyText({(*text)->getBufferStart(), size}, size);
  return std::move(text);
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
espalier::runInChild(llvm::function_ref<std::string()> function,
                     std::chrono::milliseconds timeLimit, uint64_t memoryLimit,
                     llvm::function_ref<bool()> mustStop) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return llvm::make_error<NoChildProcess>(
        std::string("cannot make a pipe: ") + strerror(errno));
  uint64_t memory = getAddressSpace() + memoryLimit;
  Clock::time_point end = Clock::now() + timeLimit;
  pid_t parent = getpid();
  pid_t child = fork();
  if (child == 0)
    beChild(function, ends[1], memory, parent, /*isInterruptible=*/!mustStop);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return llvm::make_error<NoChildProcess>(
        std::string("cannot start a process: ") + strerror(errno));
  }
  auto result = readAll(ends[0], end, timeLimit, mustStop);
  close(ends[0]);
  if (!result)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    ;
  if (!result)
    return result.takeError();
  if (WIFSIGNALED(status))
    return llvm::createStringError("expects a result, but the process ended "
                                   "with signal " +
                                   llvm::Twine(WTERMSIG(status)));
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return llvm::createStringError("expects a result, but the process failed");
  return result;
}
