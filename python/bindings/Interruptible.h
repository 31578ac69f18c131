//===- Interruptible.h - Long work that a signal can end --------*- C++ -*-===//

#ifndef ESPALIER_PYTHON_BINDINGS_INTERRUPTIBLE_H
#define ESPALIER_PYTHON_BINDINGS_INTERRUPTIBLE_H

#include "Bindings.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace espalier::python {

/// Work that goes on in a thread of its own, so that this one can listen to
/// signals: Python handles them between its own instructions only.
template <typename Result>
class Interruptible {
public:
  /// Asked by the work, from any of its threads.
  bool isCancelled() const { return cancelled; }

  /// Runs `work` without the GIL, which the caller has, and returns its result.
  /// After a signal whose handler raises, such as Ctrl-C, tells the work to
  /// stop, waits until it has, and throws what the handler raised; a result
  /// that there is nevertheless goes to `discard`. Throws CompileError if there
  /// is no thread to be had.
  Result
  run(std::function<Result()> work, void (*discard)(Result) = [](Result) {}) {
    Result result{};
    bool done = false;
    std::mutex mutex;
    std::condition_variable changed;
    std::thread thread = start([&] {
      Result made = work();
      std::lock_guard<std::mutex> lock(mutex);
      result = std::move(made);
      done = true;
      changed.notify_one();
    });
    bool raised = false;
    {
      WithoutGil release;
      std::unique_lock<std::mutex> lock(mutex);
      while (!changed.wait_for(lock, kPoll, [&] { return done; })) {
        lock.unlock();
        if (!raised) {
          WithGil gil;
          raised = cancelled = PyErr_CheckSignals() != 0;
        }
        lock.lock();
      }
      lock.unlock();
      thread.join();
    }
    if (raised) {
      discard(result);
      throw nanobind::python_error();
    }
    return result;
  }

private:
  static std::thread start(const std::function<void()> &work) {
    try {
      return std::thread(work);
    } catch (const std::system_error &error) {
      throw CompileError(std::string("cannot start a thread: ") + error.what());
    }
  }

  static constexpr std::chrono::milliseconds kPoll{50};
  std::atomic<bool> cancelled = false;
};

} // namespace espalier::python

#endif // ESPALIER_PYTHON_BINDINGS_INTERRUPTIBLE_H
