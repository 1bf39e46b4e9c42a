// SPDX-License-Identifier: Apache-2.0
#include "sextant/core/threads/pool.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "sextant/core/error.h"
#include "sextant/core/for_each.h"

namespace sextant {
namespace {

/// How often each of `chunks` chunks was called.
std::vector<int> calls_of(const Context& context, std::int64_t chunks) {
  std::vector<int> calls(static_cast<std::size_t>(chunks), 0);
  for_each_chunk(context, chunks, 1, [&](std::int64_t chunk, std::int64_t) {
    ++calls[static_cast<std::size_t>(chunk)];
  });
  return calls;
}

bool all_once(const Context& context, std::int64_t chunks) {
  return calls_of(context, chunks) == std::vector<int>(static_cast<std::size_t>(chunks), 1);
}

/// A door that threads wait at until it is opened.
class Door {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return open_; });
  }
  void wait_for_waiting(int threads) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ >= threads; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int waiting_ = 0;
};

TEST(Pool, CallsEveryChunkOnceForAnyNumberOfThreads) {
  for (const int threads : {1, 2, 3, 7, 16, 64}) {
    SCOPED_TRACE(threads);
    const Context context = Context::cpu(threads);
    for (const std::int64_t chunks : {0, 1, 2, 3, 63, 64, 65, 1000}) {
      EXPECT_TRUE(all_once(context, chunks)) << chunks;
    }
  }
  EXPECT_TRUE(all_once(Context::cpu(64), 1000000));
}

TEST(Pool, NeverHasMoreThreadsAtWorkThanTheContext) {
  for (const int threads : {2, 3, 5}) {
    std::atomic<int> now{0}, most{0};
    for_each_chunk(Context::cpu(threads), 200, 1, [&](std::int64_t, std::int64_t) {
      const int count = ++now;
      int seen = most;
      while (seen < count && !most.compare_exchange_weak(seen, count)) {
      }
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      --now;
    });
    EXPECT_LE(most, threads);
  }
}

TEST(Pool, HelpersHelp) {
  // Each chunk waits for the other, so that one thread alone would not get through.
  std::atomic<int> arrived{0};
  for_each_chunk(Context::cpu(2), 2, 1, [&](std::int64_t, std::int64_t) {
    ++arrived;
    while (arrived < 2) std::this_thread::yield();
  });
  EXPECT_EQ(arrived, 2);
}

TEST(Pool, NestsWithoutDeadlock) {
  for (const int threads : {2, 7}) {
    const Context context = Context::cpu(threads);
    std::atomic<std::int64_t> sum{0};
    for_each_chunk(context, 20, 1, [&](std::int64_t outer, std::int64_t) {
      for_each_chunk(context, 20, 1, [&](std::int64_t middle, std::int64_t) {
        for_each_chunk(context, 20, 1, [&](std::int64_t inner, std::int64_t) {
          sum += 400 * outer + 20 * middle + inner;
        });
      });
    });
    EXPECT_EQ(sum, 8000 * 7999 / 2);
  }
}

TEST(Pool, ReportsTheErrorOfTheLowestChunkEveryTime) {
  const Context context = Context::cpu(7);
  for (int turn = 0; turn < 200; ++turn) {
    std::string message;
    try {
      for_each_chunk(context, 100, 1, [](std::int64_t chunk, std::int64_t) {
        if (chunk >= 13) fail("chunk ", chunk);
      });
    } catch (const Error& error) {
      message = error.what();
    }
    ASSERT_EQ(message, "chunk 13");
  }
  EXPECT_TRUE(all_once(context, 1000));  // as good as new
}

TEST(Pool, AnErrorStopsTheRest) {
  std::atomic<int> calls{0};
  const auto failing = [&](std::int64_t, std::int64_t) {
    ++calls;
    fail("no");
  };
  EXPECT_THROW(for_each_chunk(Context::cpu(4), 1000000, 1, failing), Error);
  // Each thread may have begun a chunk before it learnt of the first failure.
  EXPECT_LE(calls, 1000);
}

TEST(Pool, AnErrorPassesThroughNestedCalls) {
  const Context context = Context::cpu(4);
  const auto nested = [&](std::int64_t outer, std::int64_t) {
    for_each_chunk(context, 10, 1, [&](std::int64_t inner, std::int64_t) {
      if (outer == 5 && inner == 5) fail("inside");
    });
  };
  EXPECT_THROW(for_each_chunk(context, 10, 1, nested), Error);
}

TEST(Pool, ManyThreadsCallAtOnce) {
  std::vector<std::thread> users;
  std::atomic<int> wrong{0};
  for (int user = 0; user < 12; ++user) {
    users.emplace_back([user, &wrong] {
      const Context context = Context::cpu(1 + user % 5);
      for (int turn = 0; turn < 100; ++turn) wrong += !all_once(context, 50 + turn);
    });
  }
  for (std::thread& user : users) user.join();
  EXPECT_EQ(wrong, 0);
}

TEST(Pool, NobodyWaitsForBusyWorkers) {
  // One user's chunks hold every worker; another user's call must get through on its own thread.
  const Context context = Context::cpu(4);
  Door door;
  std::thread first(
      [&] { for_each_chunk(context, 4, 1, [&](std::int64_t, std::int64_t) { door.pass(); }); });
  door.wait_for_waiting(4);
  EXPECT_TRUE(all_once(context, 1000));
  EXPECT_TRUE(all_once(Context::cpu(2), 1000));
  door.open();
  first.join();
}

TEST(Pool, TheCallerWaitsForChunksThatAreBegun) {
  // The helper sleeps inside its chunk, longer than the caller spins.
  std::atomic<int> finished{0};
  for (int turn = 0; turn < 20; ++turn) {
    std::atomic<int> arrived{0};
    for_each_chunk(Context::cpu(2), 2, 1, [&](std::int64_t chunk, std::int64_t) {
      ++arrived;
      while (arrived < 2) std::this_thread::yield();
      if (chunk == turn % 2) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      ++finished;
    });
    ASSERT_EQ(finished, 2 * (turn + 1));
  }
}

TEST(Pool, KeepsItsWorkers) {
  all_once(Context::cpu(5), 100);
  const int workers = detail::Pool::of_process().workers();
  EXPECT_GE(workers, 4);
  for (int turn = 0; turn < 100; ++turn) all_once(Context::cpu(5), 100);
  EXPECT_EQ(detail::Pool::of_process().workers(), workers);
}

TEST(Pool, WorkersComeAwakeOrFromSleep) {
  // Loops in a chain, with pauses below and above the time that idle workers stay awake.
  const Context context = Context::cpu(3);
  for (const int pause_us : {0, 5, 30, 300, 3000}) {
    for (int turn = 0; turn < 20; ++turn) {
      ASSERT_TRUE(all_once(context, 10)) << pause_us;
      std::this_thread::sleep_for(std::chrono::microseconds(pause_us));
    }
  }
}

TEST(Pool, WorkersRunWhereTheProgramMay) {
  cpu_set_t program;
  ASSERT_EQ(sched_getaffinity(getpid(), sizeof program, &program), 0);
  std::atomic<int> arrived{0}, elsewhere{0};
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    const std::thread::id caller = std::this_thread::get_id();
    for_each_chunk(Context::cpu(3), 3, 1, [&](std::int64_t, std::int64_t) {
      ++arrived;
      while (arrived < 3) std::this_thread::yield();
      cpu_set_t own;
      sched_getaffinity(0, sizeof own, &own);
      if (std::this_thread::get_id() != caller) elsewhere += CPU_EQUAL(&own, &program);
    });
  }).join();
  EXPECT_EQ(elsewhere, 2);
}

/// The exit status of a child that runs the work, or -1 where it did not end by itself in time.
template <class Work>
int status_of_child(const Work& work) {
  std::fflush(nullptr);  // or the child would print it again
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // a child that hangs shall fail
    _exit(work() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
  return WEXITSTATUS(status);
}

TEST(Pool, WorksAfterFork) {
  const Context context = Context::cpu(4);
  ASSERT_TRUE(all_once(context, 1000));
  const auto in_child = [&] {
    return detail::Pool::of_process().workers() == 0 && all_once(context, 1000) &&
           detail::Pool::of_process().workers() == 3 && all_once(context, 1000);
  };
  EXPECT_EQ(status_of_child(in_child), 0);
  EXPECT_TRUE(all_once(context, 1000));
}

TEST(Pool, WorksAfterForkBesideBusyWorkers) {
  const Context context = Context::cpu(4);
  Door door;
  std::thread first(
      [&] { for_each_chunk(context, 4, 1, [&](std::int64_t, std::int64_t) { door.pass(); }); });
  door.wait_for_waiting(4);
  EXPECT_EQ(status_of_child([&] { return all_once(context, 1000); }), 0);
  door.open();
  first.join();
}

TEST(Pool, WorksWhileOthersFork) {
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread user([&] {
    while (!stop) wrong += !all_once(Context::cpu(3), 20);
  });
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_EQ(status_of_child([] { return all_once(Context::cpu(3), 20); }), 0);
  }
  stop = true;
  user.join();
  EXPECT_EQ(wrong, 0);
}

/// As a program that returns from main: destructors run, the pool's among them.
template <class Work>
int status_of_program(const Work& work) {
  return status_of_child([&] {
    work();
    std::exit(0);
    return false;
  });
}

TEST(Pool, ProgramsEndWhileWorkersAreIdleOrBusy) {
  const Context context = Context::cpu(4);
  EXPECT_EQ(status_of_program([&] { all_once(context, 100); }), 0);
  EXPECT_EQ(status_of_program([&] {
              static Door& door = *new Door;  // threads stand before it to the end
              std::thread([context] {
                for_each_chunk(context, 4, 1, [&](std::int64_t, std::int64_t) { door.pass(); });
              }).detach();
              door.wait_for_waiting(4);
            }),
            0);
  // From inside a chunk, whichever thread has it.
  EXPECT_EQ(status_of_program([&] {
              for_each_chunk(context, 100, 1, [](std::int64_t chunk, std::int64_t) {
                if (chunk == 50) std::exit(0);
              });
            }),
            0);
}

}  // namespace
}  // namespace sextant
