//===- WorkerPool.cpp - Threads, as many as there are to be had -----------===//

#include "espalier/Support/WorkerPool.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using llvm::ThreadPoolTaskGroup;
using Lock = std::unique_lock<std::mutex>;

WorkerPool::WorkerPool(unsigned maxThreads)
    : maxThreads(maxThreads
                     ? maxThreads
                     : llvm::hardware_concurrency().compute_thread_count()) {}

WorkerPool::~WorkerPool() {
  wait();
  {
    Lock lock(mutex);
    isEnding = true;
  }
  changed.notify_all();
  for (pthread_t thread : threads)
    pthread_join(thread, nullptr);
}

void WorkerPool::wait() { workUntilDone(nullptr); }
void WorkerPool::wait(ThreadPoolTaskGroup &group) { workUntilDone(&group); }

void WorkerPool::asyncEnqueue(llvm::unique_function<void()> run,
                              ThreadPoolTaskGroup *group) {
  {
    Lock lock(mutex);
    tasks.push_back({std::move(run), group});
    startThread();
  }
  // Threads that wait for a group wake up for nothing, which is rare.
  changed.notify_all();
}

void WorkerPool::startThread() {
  if (isRefused || numIdle >= tasks.size() || threads.size() + 1 >= maxThreads)
    return;
  pthread_t thread;
  isRefused = pthread_create(&thread, nullptr, workInThread, this) != 0;
  if (!isRefused)
    threads.push_back(thread);
}

void *WorkerPool::workInThread(void *argument) {
  auto &pool = *static_cast<WorkerPool *>(argument);
  Lock lock(pool.mutex);
  while (true) {
    while (pool.runTask(lock, nullptr)) {
    }
    if (pool.isEnding)
      return nullptr;
    ++pool.numIdle;
    pool.changed.wait(lock);
    --pool.numIdle;
  }
}

bool WorkerPool::runTask(Lock &lock, ThreadPoolTaskGroup *group) {
  auto first = llvm::find_if(
      tasks, [&](const Task &task) { return !group || task.group == group; });
  if (first == tasks.end())
    return false;
  Task task = std::move(*first);
  tasks.erase(first);
  std::vector<Frame> &stack = stacks[std::this_thread::get_id()];
  stack.push_back({task.group, /*isTask=*/true});
  lock.unlock();
  task.run();
  // What the task holds goes before anybody is told that it is complete.
  task.run = {};
  lock.lock();
  stack.pop_back();
  changed.notify_all();
  return true;
}

bool WorkerPool::isDone(ThreadPoolTaskGroup *group) const {
  auto isMeant = [&](const auto &task) {
    return !group || task.group == group;
  };
  if (llvm::any_of(tasks, isMeant))
    return false;
  auto isMeantTask = [&](const Frame &frame) {
    return frame.isTask && isMeant(frame);
  };
  auto own = stacks.find(std::this_thread::get_id());
  bool isInside = own != stacks.end() && llvm::any_of(own->second, isMeantTask);
  for (const auto &[thread, stack] : stacks)
    for (const Frame &frame : llvm::reverse(stack)) {
      // Tasks that wait for each other go on; others wait for their end.
      if (isInside && !frame.isTask && frame.group == group)
        break;
      if (isMeantTask(frame))
        return false;
    }
  return true;
}

void WorkerPool::workUntilDone(ThreadPoolTaskGroup *group) {
  Lock lock(mutex);
  std::vector<Frame> &stack = stacks[std::this_thread::get_id()];
  stack.push_back({group, /*isTask=*/false});
  while (!isDone(group))
    if (!runTask(lock, group))
      changed.wait(lock);
  stack.pop_back();
  if (stack.empty())
    stacks.erase(std::this_thread::get_id());
}
