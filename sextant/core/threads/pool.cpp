// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/pool.h"

#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <new>

#include "sextant/core/threads/park.h"
#include "sextant/core/threads/thread_count.h"

namespace sextant::detail {

namespace {

/// How long an idle worker waits for the next job before it sleeps. Operations are chains of loops
/// with work of the caller between them, and a worker that sleeps comes tens of microseconds late
/// to the next loop.
constexpr std::chrono::microseconds kWaitAlone{1000}, kWaitInCompany{20};

/// How long a caller waits for the last chunks of its helpers before it sleeps. A helper that has a
/// processor needs less for the rest of its chunk. One that has lost its processor needs
/// milliseconds.
constexpr std::chrono::microseconds kFinishAlone{500}, kFinishInCompany{50};

}  // namespace

Pool& Pool::of_process() {
  // No destructor runs: a worker that is busy when the program ends may still look at it.
  alignas(Pool) static std::byte storage[sizeof(Pool)];
  static Pool* const pool = new (storage) Pool;
  struct Closer {
    ~Closer() { pool->close(); }
  };
  static const Closer closer;
  return *pool;
}

Pool::Pool() : most_awake_(has_quota() ? 0 : hardware_threads() - 1) {
  // A forked child has the memory of its parent but none of the workers.
  pthread_atfork([] { of_process().mutex_.lock(); }, [] { of_process().mutex_.unlock(); },
                 [] {
                   Pool& pool = of_process();
                   pool.jobs_.clear();
                   pool.workers_.clear();
                   pool.asleep_ = 0;
                   pool.awake_ = 0;
                   pool.mutex_.unlock();
                 });
}

void Pool::close() {
  // Taken out, because the vectors are never destroyed.
  std::vector<std::shared_ptr<ChunkJob>> jobs;
  std::vector<Worker> workers;
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    jobs.swap(jobs_);
    workers.swap(workers_);
    published_.fetch_add(1);
  }
  unpark(published_, INT_MAX);
  for (const Worker& worker : workers) {
    // A chunk may take for ever, or be the one that ends the program.
    if (worker.busy) {
      pthread_detach(worker.thread);
    } else {
      pthread_join(worker.thread, nullptr);
    }
  }
}

int Pool::workers() const {
  const std::lock_guard lock(mutex_);
  return static_cast<int>(workers_.size());
}

void Pool::run(int threads, std::int64_t chunks, ChunkFunction function) {
  const int helpers = static_cast<int>(std::min<std::int64_t>(threads, chunks)) - 1;
  const auto job = std::make_shared<ChunkJob>(chunks, helpers, function);
  // The list of jobs outlives this call, with an error or without.
  struct Withdrawal {
    Pool& pool;
    const std::shared_ptr<ChunkJob>& job;
    ~Withdrawal() { pool.withdraw(job); }
  } const withdrawal{*this, job};
  publish(job);
  job->run_as_caller(company_.limit(kFinishAlone, kFinishInCompany));
}

void Pool::publish(const std::shared_ptr<ChunkJob>& job) {
  int to_wake = 0;
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    jobs_.push_back(job);
    add_workers(job->most_helpers());
    published_.fetch_add(1);
    to_wake = std::min(job->most_helpers(), asleep_);
  }
  if (to_wake > 0) unpark(published_, to_wake);
}

void Pool::withdraw(const std::shared_ptr<ChunkJob>& job) {
  const std::lock_guard lock(mutex_);
  std::erase(jobs_, job);
}

void Pool::add_workers(int helpers) {
  const auto count = [&] { return static_cast<int>(workers_.size()); };
  int target = helpers;
  if (jobs_.size() > 1) {
    // Calls at once get workers of their own as long as there are processors for them.
    int wanted = 0;
    for (const std::shared_ptr<ChunkJob>& job : jobs_) wanted += job->most_helpers();
    if (wanted > count()) target = std::max(helpers, std::min(wanted, hardware_threads() - 1));
  }
  // Where the system refuses another thread, those that are there have to do.
  while (count() < target && add_worker()) {
  }
}

bool Pool::add_worker() {
  workers_.reserve(workers_.size() + 1);  // a thread that is not in the list would be lost
  // The program's signals are for the program's own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Worker worker{{}, false};
  const auto start = [](void* index) -> void* {
    of_process().work(reinterpret_cast<std::uintptr_t>(index));
    return nullptr;
  };
  const int status =
      pthread_create(&worker.thread, nullptr, start, reinterpret_cast<void*>(workers_.size()));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (status != 0) return false;
  workers_.push_back(worker);
  return true;
}

void Pool::work(std::size_t worker) {
  pthread_setname_np(pthread_self(), "sextant");
  // Workers serve every caller, so they run where the program may, not where the thread that
  // happened to need them first is pinned.
  cpu_set_t processors;
  if (sched_getaffinity(getpid(), sizeof processors, &processors) == 0) {
    pthread_setaffinity_np(pthread_self(), sizeof processors, &processors);
  }
  LostTime lost;
  while (const std::shared_ptr<ChunkJob> job = join_job(worker, lost)) job->run_as_helper();
}

std::shared_ptr<ChunkJob> Pool::join_job(std::size_t worker, LostTime& lost) {
  std::unique_lock lock(mutex_);
  for (bool spun = false;; spun = !spun) {
    if (closed_) return nullptr;
    workers_[worker].busy = false;
    if (std::shared_ptr<ChunkJob> job = find_job()) {
      ++job->helpers;
      workers_[worker].busy = true;
      return job;
    }
    const std::uint32_t seen = published_.load();
    if (spun) ++asleep_;
    lock.unlock();
    if (spun) {
      park_while(published_, seen);
      lost.restart();
    } else {
      stay_awake(seen, lost);
    }
    lock.lock();
    if (spun) --asleep_;
  }
}

void Pool::stay_awake(std::uint32_t seen, LostTime& lost) {
  const auto done = [&] { return published_.load() != seen; };
  if (spin_until(kWaitInCompany, done)) return;
  company_.note(lost.take());
  // One that would have no processor to itself had better sleep.
  if (awake_.fetch_add(1) < most_awake_) {
    spin_until(company_.limit(kWaitAlone, kWaitInCompany) - kWaitInCompany, done);
  }
  awake_.fetch_sub(1);
}

std::shared_ptr<ChunkJob> Pool::find_job() const {
  std::shared_ptr<ChunkJob> best;
  for (const std::shared_ptr<ChunkJob>& job : jobs_) {
    const bool open = job->has_chunks() && job->helpers < job->most_helpers();
    if (open && (!best || job->helpers < best->helpers)) best = job;
  }
  return best;
}

}  // namespace sextant::detail
