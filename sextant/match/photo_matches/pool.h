// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "sextant/match/photo_matches/rule.h"

namespace sextant::detail::photo_matches {

/// Points near a feature, in the order of rows, with what a search compares as their distance. A
/// view of a part of Pools.
class Pool {
 public:
  Pool(std::int32_t* keys, std::int32_t* rows, int& size) : keys_(keys), rows_(rows), size_(size) {}

  int size() const { return size_; }
  NearPoint operator[](int i) const { return {keys_[i], rows_[i]}; }
  void clear() { size_ = 0; }
  void add(std::int32_t key, std::int32_t row) {
    keys_[size_] = key;
    rows_[size_++] = row;
  }

  /// Drops all but the k nearest, of equally near ones the first; returns whether there are k.
  bool keep_nearest(int k) {
    if (size_ < k) return false;
    const std::int32_t last = kth_key(k);
    int equal = k - count_up_to(last - 1);
    int kept = 0;
    for (int i = 0; i < size_; ++i) {  // without a branch, which would go either way
      const std::int32_t key = keys_[i];
      const int is_last = key == last;
      const int stays = (key < last) | (is_last & static_cast<int>(equal > 0));
      equal -= is_last;
      keys_[kept] = key;
      rows_[kept] = rows_[i];
      kept += stays;
    }
    size_ = kept;
    return true;
  }
  std::int32_t farthest() const { return *std::max_element(keys_, keys_ + size_); }

 private:
  int count_up_to(std::int32_t key) const {
    int count = 0;
    for (int i = 0; i < size_; ++i) count += keys_[i] <= key;
    return count;
  }
  /// Halves the range of keys: counting is so much faster than moving that this beats sorting.
  std::int32_t kth_key(int k) const {
    std::int32_t low = *std::min_element(keys_, keys_ + size_), high = farthest();
    while (low < high) {
      const std::int32_t middle = low + (high - low) / 2;
      if (count_up_to(middle) >= k) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }

  std::int32_t* keys_;
  std::int32_t* rows_;
  int& size_;
};

/// The pools of a chunk of features, each with room for 2 k points and a few more.
class Pools {
 public:
  Pools(int k, int count)
      : room_(2 * k + 16),
        keys_(static_cast<std::size_t>(room_) * static_cast<std::size_t>(count)),
        rows_(keys_.size()),
        sizes_(static_cast<std::size_t>(count)) {}

  int room() const { return room_; }
  Pool at(int q) {
    const std::int64_t first = std::int64_t{q} * room_;
    return {keys_.data() + first, rows_.data() + first, sizes_[static_cast<std::size_t>(q)]};
  }

 private:
  int room_;
  std::vector<std::int32_t> keys_, rows_;
  std::vector<int> sizes_;
};

}  // namespace sextant::detail::photo_matches
