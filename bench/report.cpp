#include "report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tolerance.hpp"

namespace bench {
namespace {

/// cuDNN's times for one pass and mode; null where there is none.
struct cudnn_times {
  cudnn_result const* best = nullptr;
  double best_microseconds = 0;
  double standard_microseconds = 0;
};

cudnn_times cudnn_for(shape_result const& result, timed_pass pass, launch_mode mode) {
  cudnn_times found;
  for (cudnn_result const& candidate : result.cudnn) {
    timing const& t = candidate.times.at(pass, mode);
    if (!t.ran()) continue;
    if (candidate.algorithm == "standard") found.standard_microseconds = t.microseconds;
    if (found.best == nullptr || t.microseconds < found.best_microseconds) {
      found.best = &candidate;
      found.best_microseconds = t.microseconds;
    }
  }
  return found;
}

double ratio_of(double cudnn_microseconds, timing const& ours) {
  return ours.ran() && cudnn_microseconds > 0 ? cudnn_microseconds / ours.microseconds : 0;
}

/// A line for each pass that has no time, or two where the launch modes differ in why.
void print_missing(std::string const& what, timings const& times) {
  for (timed_pass const pass : timed_passes) {
    timing const& stream = times.at(pass, launch_mode::stream);
    timing const& graph = times.at(pass, launch_mode::graph);
    auto const print = [&](char const* mode, timing const& t) {
      if (!t.ran()) std::printf("  %s: %s%s: %s\n", what.c_str(), name_of(pass), mode, t.reason.c_str());
    };
    if (!stream.ran() && !graph.ran() && stream.reason == graph.reason) {
      print("", stream);
    } else {
      print(" in a stream", stream);
      print(" in a graph", graph);
    }
  }
}

/// Why cuDNN's algorithms have no time for this pass and mode.
std::string cudnn_notes(shape_result const& result, timed_pass pass, launch_mode mode) {
  std::string notes;
  for (cudnn_result const& c : result.cudnn) {
    timing const& t = c.times.at(pass, mode);
    std::string const& reason = c.reason.empty() ? t.reason : c.reason;
    if (!t.ran()) notes += (notes.empty() ? "" : "; ") + c.algorithm + ": " + reason;
  }
  return notes;
}

}  // namespace

report::report(std::vector<std::string> const& header, std::string const& csv_path, bool with_cudnn)
    : csv_(csv_path, header,
           "cell,hidden,batch,steps,layers,precision,schedule,pass,mode,microseconds,repetitions,"
           "cudnn_best_microseconds,cudnn_best_algorithm,cudnn_standard_microseconds,best_ratio,standard_ratio,error,"
           "reason,cudnn_reason"),
      with_cudnn_(with_cudnn) {
  for (std::string const& line : header) std::printf("# %s\n", line.c_str());
  std::puts("# microseconds, median; graph: captured and launched; ratios: cuDNN's graph over this library's");
  std::fflush(stdout);
}

void report::add(shape_result const& result) {
  for (schedule_result const& ours : result.schedules) {
    for (timed_pass const pass : timed_passes) {
      if (is_wrong(ours.errors[std::size_t(pass)], result.row.precision)) ++wrong_results_;
      for (launch_mode const mode : launch_modes) timings_taken_ += ours.times.at(pass, mode).ran() ? 1 : 0;
      timing const& captured = ours.times.at(pass, launch_mode::graph);
      cudnn_times const cudnn = cudnn_for(result, pass, launch_mode::graph);
      samples_.push_back({ours.schedule, pass, row_of(result.row), ratio_of(cudnn.standard_microseconds, captured),
                          ratio_of(cudnn.best_microseconds, captured)});
    }
    print_table(result, ours);
    write_csv(result, ours);
  }
  if (result.schedules.size() < 2) return;
  for (timed_pass const pass : timed_passes) {
    sample best{"(best of these)", pass, row_of(result.row), 0, 0};
    for (sample const& s : samples_)
      if (s.pass == pass && s.row == best.row) {
        best.standard_ratio = std::max(best.standard_ratio, s.standard_ratio);
        best.best_ratio = std::max(best.best_ratio, s.best_ratio);
      }
    samples_.push_back(best);
  }
}

void report::print_table(shape_result const& result, schedule_result const& ours) {
  shape const& s = result.row;
  std::printf("\n%s, %s: hidden %lld, batch %lld, steps %lld, layers %lld, schedule %s\n", s.cell.c_str(),
              s.precision.c_str(), static_cast<long long>(s.hidden), static_cast<long long>(s.batch),
              static_cast<long long>(s.steps), static_cast<long long>(s.layers), ours.schedule.c_str());
  if (!ours.reason.empty()) std::printf("  not run: %s\n", ours.reason.c_str());
  std::printf("  %-18s %10s %10s | %12s %14s %10s %-15s | %13s %9s | %s\n", "pass", "stream", "graph", "cudnn stream",
              "standard graph", "best graph", "algorithm", "standard/ours", "best/ours", "error");
  for (timed_pass const pass : timed_passes) {
    timing const& stream = ours.times.at(pass, launch_mode::stream);
    timing const& graph = ours.times.at(pass, launch_mode::graph);
    cudnn_times const in_stream = cudnn_for(result, pass, launch_mode::stream);
    cudnn_times const captured = cudnn_for(result, pass, launch_mode::graph);
    auto const& error = ours.errors[std::size_t(pass)];
    std::printf(
        "  %-18s %10s %10s | %12s %14s %10s %-15s | %13s %9s | %s%s\n", name_of(pass),
        positive("%.1f", stream.microseconds).c_str(), positive("%.1f", graph.microseconds).c_str(),
        positive("%.1f", in_stream.best_microseconds).c_str(), positive("%.1f", captured.standard_microseconds).c_str(),
        positive("%.1f", captured.best_microseconds).c_str(),
        captured.best != nullptr ? captured.best->algorithm.c_str() : "",
        positive("%.2f", ratio_of(captured.standard_microseconds, graph)).c_str(),
        positive("%.2f", ratio_of(captured.best_microseconds, graph)).c_str(),
        number("%.1e", error.value_or(0), error.has_value()).c_str(), is_wrong(error, s.precision) ? " WRONG" : "");
  }
  if (ours.reason.empty()) print_missing("not run", ours.times);
  if (!ours.check_reason.empty()) std::printf("  not compared: %s\n", ours.check_reason.c_str());
  for (cudnn_result const& c : result.cudnn) {
    std::string const what = "cudnn " + c.algorithm;
    if (c.reason.empty()) print_missing(what, c.times);
    else std::printf("  %s: %s\n", what.c_str(), c.reason.c_str());
  }
  std::fflush(stdout);
}

void report::write_csv(shape_result const& result, schedule_result const& ours) {
  for (timed_pass const pass : timed_passes)
    for (launch_mode const mode : launch_modes) {
      timing const& t = ours.times.at(pass, mode);
      cudnn_times const cudnn = cudnn_for(result, pass, mode);
      auto const& error = ours.errors[std::size_t(pass)];
      std::string reason = !ours.reason.empty() ? ours.reason : t.reason;
      if (reason.empty() && !ours.check_reason.empty()) reason = "not compared: " + ours.check_reason;
      std::vector<std::string> fields = fields_of(result.row);
      fields.insert(fields.end(),
                    {ours.schedule, name_of(pass), name_of(mode), positive("%.2f", t.microseconds),
                     positive("%.0f", t.repetitions), positive("%.2f", cudnn.best_microseconds),
                     cudnn.best != nullptr ? cudnn.best->algorithm : "", positive("%.2f", cudnn.standard_microseconds),
                     positive("%.3f", ratio_of(cudnn.best_microseconds, t)),
                     positive("%.3f", ratio_of(cudnn.standard_microseconds, t)),
                     number("%.2e", error.value_or(0), error.has_value()), reason, cudnn_notes(result, pass, mode)});
      csv_.add(fields);
    }
}

void report::print_summary() const {
  if (!with_cudnn_) {
    std::puts("\nNo ratios: cuDNN was not timed.");
    return;
  }
  std::vector<std::string> schedules;
  for (sample const& s : samples_)
    if (std::find(schedules.begin(), schedules.end(), s.schedule) == schedules.end()) schedules.push_back(s.schedule);
  std::puts("\nCaptured, cuDNN's time over this library's (above 1: this library is faster)");
  std::printf("  %-20s %-18s %5s %22s %18s   %s\n", "schedule", "pass", "rows", "standard, geometric",
              "best, geometric", "worst row against standard");
  for (std::string const& schedule : schedules)
    for (timed_pass const pass : timed_passes) {
      int rows = 0;
      double standard = 0, best = 0;
      sample const* worst = nullptr;
      for (sample const& s : samples_) {
        if (s.schedule != schedule || s.pass != pass || s.standard_ratio == 0) continue;
        ++rows;
        standard += std::log(s.standard_ratio);
        best += std::log(s.best_ratio);
        if (worst == nullptr || s.standard_ratio < worst->standard_ratio) worst = &s;
      }
      if (worst == nullptr) continue;
      std::printf("  %-20s %-18s %5d %22.3f %18.3f   %.3f %s\n", schedule.c_str(), name_of(pass), rows,
                  std::exp(standard / rows), std::exp(best / rows), worst->standard_ratio, worst->row.c_str());
    }
}

}  // namespace bench
