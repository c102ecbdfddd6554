#pragma once

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "rnnopt/recorder.hpp"

/// When each operation of a recorded schedule would run.

namespace schedule_tool {

inline bool is_work(rnnopt::operation const& op) {
  return op.kind != rnnopt::operation_kind::signal && op.kind != rnnopt::operation_kind::wait;
}

/// From when to when an operation runs; of a wait, how long its lane stands still.
struct span {
  double start = 0;
  double end = 0;
  std::optional<std::size_t> after;  ///< the operation whose end it had to wait for last; none at the beginning

  double length() const { return end - start; }
};

/// Runs a list over its lanes: an operation starts when the one before on its lane has ended, a wait ends when its
/// signal has come. Lanes run at the same time without limit; signals and waits themselves take no time.
///
/// @param duration  duration(op) of an operation that is neither signal nor wait
/// @return one span for each operation, in the order of the list
/// @pre every wait comes after its signal in the list, as in one that is proven correct
template <class Duration>
std::vector<span> run(std::vector<rnnopt::operation> const& operations, Duration const& duration) {
  std::vector<span> spans;
  std::map<int, std::size_t> latest, signals;  // the latest operation of each lane, the operation of each signal
  for (std::size_t i = 0; i < operations.size(); ++i) {
    rnnopt::operation const& op = operations[i];
    span s;
    if (auto const before = latest.find(op.lane); before != latest.end()) {
      s.after = before->second;
      s.start = spans[before->second].end;
    }
    s.end = s.start + (is_work(op) ? duration(op) : 0);
    if (op.kind == rnnopt::operation_kind::wait) {
      std::size_t const signal = signals.at(op.event);
      if (spans[signal].end > s.end) {
        s.after = signal;
        s.end = spans[signal].end;
      }
    }
    if (op.kind == rnnopt::operation_kind::signal) signals[op.event] = i;
    latest[op.lane] = i;
    spans.push_back(s);
  }
  return spans;
}

inline double total_time(std::vector<span> const& spans) {
  double total = 0;
  for (span const& s : spans) total = std::max(total, s.end);
  return total;
}

/// The operations that follow on each other without a gap from the beginning to the end, signals and waits left out:
/// the whole is faster only if one of them is.
inline std::vector<std::size_t> critical_path(std::vector<rnnopt::operation> const& operations,
                                              std::vector<span> const& spans) {
  std::vector<std::size_t> path;
  auto const last = std::max_element(spans.begin(), spans.end(), [](auto& a, auto& b) { return a.end < b.end; });
  if (last == spans.end()) return path;
  for (std::optional<std::size_t> i = std::size_t(last - spans.begin()); i; i = spans[*i].after)
    if (is_work(operations[*i])) path.push_back(*i);
  std::reverse(path.begin(), path.end());
  return path;
}

/// How many operations run at once.
struct width {
  double average = 0;
  int largest = 0;
};

inline width width_of(std::vector<rnnopt::operation> const& operations, std::vector<span> const& spans) {
  std::vector<std::pair<double, int>> changes;
  double work = 0;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!is_work(operations[i]) || spans[i].length() == 0) continue;
    work += spans[i].length();
    changes.push_back({spans[i].start, 1});
    changes.push_back({spans[i].end, -1});
  }
  if (changes.empty()) return {};
  std::sort(changes.begin(), changes.end());  // at the same time, ends come before starts
  width result{work / total_time(spans), 0};
  int running = 0;
  for (auto const& [time, change] : changes) result.largest = std::max(result.largest, running += change);
  return result;
}

}  // namespace schedule_tool
