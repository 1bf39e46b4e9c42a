// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "sextant/core/threads/chunk_job.h"
#include "sextant/core/threads/company.h"

namespace sextant::detail {

/// Threads that help whoever calls run(). They share a machine with other programs, so nobody ever
/// waits for a thread to show up: the caller works itself and waits only for chunks that a helper
/// has begun. Any number of threads may call at once, also from inside a chunk.
///
/// Workers are made when they are first needed and are kept. All jobs share them.
class Pool {
 public:
  /// The one of this process: it lives until the program ends or the library is unloaded, and
  /// starts afresh in a forked child.
  static Pool& of_process();

  /// Calls the function for 0 .. chunks - 1 on this thread and up to `threads` - 1 workers.
  void run(int threads, std::int64_t chunks, ChunkFunction function);

  int workers() const;

 private:
  Pool();
  /// Sends the workers home and waits for those that are idle. Later calls run on their caller's
  /// thread alone.
  void close();

  void publish(const std::shared_ptr<ChunkJob>& job);
  void withdraw(const std::shared_ptr<ChunkJob>& job);
  /// Under the mutex: makes workers until there are enough for the jobs that run now.
  void add_workers(int helpers);
  bool add_worker();
  void work(std::size_t worker);
  /// Sleeps until there is something to help with; null when the pool closes.
  std::shared_ptr<ChunkJob> join_job(std::size_t worker, LostTime& lost);
  /// Waits a while, without sleeping, for a change of published_.
  void stay_awake(std::uint32_t seen, LostTime& lost);
  /// Under the mutex: the job with the fewest helpers that still has chunks and room.
  std::shared_ptr<ChunkJob> find_job() const;

  struct Worker {
    pthread_t thread;
    bool busy;  ///< helps with a job
  };
  mutable std::mutex mutex_;
  std::vector<std::shared_ptr<ChunkJob>> jobs_;
  std::vector<Worker> workers_;
  int asleep_ = 0;  ///< workers that wait for a change of published_ in the kernel
  bool closed_ = false;
  std::atomic<std::uint32_t> published_{0};  ///< counts the reasons for idle workers to look up
  std::atomic<int> awake_{0};                ///< idle workers that stay awake
  /// How many of them may stay awake: there is a processor for each beside the caller's. None where
  /// the time of all threads together is limited.
  const int most_awake_;
  Company company_;
};

}  // namespace sextant::detail
