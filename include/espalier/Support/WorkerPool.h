//===- WorkerPool.h - Threads, as many as there are to be had ---*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_WORKERPOOL_H
#define ESPALIER_SUPPORT_WORKERPOOL_H

#include "llvm/Support/ThreadPool.h"
#include <map>
#include <pthread.h>
#include <thread>

namespace espalier {

/// A pool of threads for MLIR contexts and work of ours. LLVM's own ends the
/// process where the system starts no more threads; this one goes on with
/// those that it has. Whoever waits works too, so that none are needed.
///
/// Tasks begin when threads are free, or at `wait`. A task may wait, too: for
/// its own group, or for all, it waits until each other task is complete or
/// waits for the same.
class WorkerPool : public llvm::ThreadPoolInterface {
public:
  /// At most `maxThreads` threads work, the waiting one included; 0 stands for
  /// one on each core that the process may use.
  explicit WorkerPool(unsigned maxThreads = 0);
  WorkerPool(const WorkerPool &) = delete;
  WorkerPool &operator=(const WorkerPool &) = delete;
  /// Completes all tasks.
  ~WorkerPool() override;

  void wait() override;
  void wait(llvm::ThreadPoolTaskGroup &group) override;
  unsigned getMaxConcurrency() const override { return maxThreads; }

private:
  struct Task {
    llvm::unique_function<void()> run;
    llvm::ThreadPoolTaskGroup *group;
  };

  void asyncEnqueue(llvm::unique_function<void()> run,
                    llvm::ThreadPoolTaskGroup *group) override;
  /// Starts a thread if there is work for one more.
  void startThread();
  /// What a thread is at: a task, or waiting for those of a group, or for all.
  struct Frame {
    llvm::ThreadPoolTaskGroup *group;
    bool isTask;
  };

  /// Works until the tasks of `group`, or all if it is null, are complete.
  void workUntilDone(llvm::ThreadPoolTaskGroup *group);
  /// Runs the first task, of `group` if that is not null. False if there is
  /// none. The lock is held before and after.
  bool runTask(std::unique_lock<std::mutex> &lock,
               llvm::ThreadPoolTaskGroup *group);
  bool isDone(llvm::ThreadPoolTaskGroup *group) const;
  static void *workInThread(void *pool);

  const unsigned maxThreads;
  std::mutex mutex;
  /// Tasks have come or gone, or the pool is about to end.
  std::condition_variable changed;
  std::deque<Task> tasks;
  /// What the threads are at, and have interrupted for it, outermost first.
  std::map<std::thread::id, std::vector<Frame>> stacks;
  std::vector<pthread_t> threads;
  unsigned numIdle = 0;
  bool isRefused = false; ///< The system has started no thread when asked last.
  bool isEnding = false;
};

} // namespace espalier

#endif // ESPALIER_SUPPORT_WORKERPOOL_H
