#include "ladder/report.hpp"

#include <algorithm>
#include <cstdio>

#include "ladder/flops.hpp"
#include "ladder/rungs.hpp"
#include "tolerance.hpp"

namespace bench::ladder {
namespace {

/// The paper's figures are those of one cell, precision and pass.
bool in_paper(shape const& s, timed_pass pass) {
  return s.cell == "lstm" && s.precision == "fp32" && pass == timed_pass::forward_training;
}

schedule_result const* find(shape_result const& result, std::string const& name) {
  auto const found = std::find_if(result.schedules.begin(), result.schedules.end(),
                                  [&](schedule_result const& s) { return s.schedule == name; });
  return found != result.schedules.end() ? &*found : nullptr;
}

void set_time(result_line& line, timing const& time, std::string const& reason, double operations) {
  line.time = time;
  if (time.ran()) line.gflops = gflops(operations, time.microseconds);
  else line.reason = !reason.empty() ? reason : time.reason;
}

result_line line_of_rung(shape_result const& result, std::size_t number, rung_description const& rung,
                         schedule_result const& ours, timed_pass pass, launch_mode mode) {
  result_line line{std::to_string(number), rung.name, rung.schedule, pass, mode};
  set_time(line, ours.times.at(pass, mode), ours.reason, floating_point_operations(result.row));
  if (in_paper(result.row, pass)) line.paper_speedup = rung.paper_speedup;
  schedule_result const* const lowest = find(result, rung_descriptions().front().name);
  if (lowest != nullptr && line.time.ran() && lowest->times.at(pass, mode).ran())
    line.speedup = lowest->times.at(pass, mode).microseconds / line.time.microseconds;
  line.error = ours.errors[std::size_t(pass)];
  line.wrong = is_wrong(line.error, result.row.precision);
  if (schedule_result const* const same = find(result, rung.same_as); same != nullptr) {
    auto const &bits = ours.fingerprints[std::size_t(pass)], &expected = same->fingerprints[std::size_t(pass)];
    if (bits && expected) line.same_bits = *bits == *expected;
  }
  if (line.reason.empty() && !ours.check_reason.empty()) line.reason = "not compared: " + ours.check_reason;
  return line;
}

/// A line of the table: a rung, or cuDNN, in a stream and in a graph.
void print_line(result_line const& stream, result_line const& graph) {
  std::printf("  %2s %-26s |", stream.rung.c_str(), stream.name.c_str());
  for (result_line const* line : {&stream, &graph})
    std::printf(" %10s %9s %7s |", positive("%.1f", line->time.microseconds).c_str(),
                positive("%.0f", line->gflops).c_str(), positive("%.2f", line->speedup).c_str());
  std::string const bits = !graph.same_bits ? "" : *graph.same_bits ? ", same bits" : ", OTHER BITS";
  std::printf(" %5s | %s%s%s\n", positive("%.1f", graph.paper_speedup).c_str(),
              number("%.1e", graph.error.value_or(0), graph.error.has_value()).c_str(), graph.wrong ? " WRONG" : "",
              bits.c_str());
  for (result_line const* line : {&stream, &graph})
    if (!line->reason.empty()) std::printf("     in a %s: %s\n", name_of(line->mode), line->reason.c_str());
}

}  // namespace

std::vector<result_line> result_lines(shape_result const& result) {
  std::vector<rung_description> const rungs = rung_descriptions();
  std::vector<result_line> lines;
  for (timed_pass const pass : ladder_passes) {
    for (std::size_t i = 0; i < rungs.size(); ++i) {
      schedule_result const* const ours = find(result, rungs[i].name);
      if (ours == nullptr) continue;
      for (launch_mode const mode : launch_modes) lines.push_back(line_of_rung(result, i, rungs[i], *ours, pass, mode));
    }
    for (cudnn_result const& cudnn : result.cudnn)
      for (launch_mode const mode : launch_modes) {
        lines.push_back({{}, "cudnn " + cudnn.algorithm, {}, pass, mode});
        set_time(lines.back(), cudnn.times.at(pass, mode), cudnn.reason, floating_point_operations(result.row));
      }
  }
  return lines;
}

report::report(std::vector<std::string> const& header, std::string const& csv_path)
    : csv_(csv_path, header,
           "cell,hidden,batch,steps,layers,precision,rung,name,schedule,pass,mode,microseconds,repetitions,gflops,"
           "speedup,paper_speedup,error,same_bits,reason") {
  for (std::string const& line : header) std::printf("# %s\n", line.c_str());
  std::vector<rung_description> const rungs = rung_descriptions();
  for (std::size_t i = 0; i < rungs.size(); ++i)
    std::printf("# rung %zu, %s: %s\n", i, rungs[i].name.c_str(), rungs[i].change.c_str());
  std::puts("# microseconds, median; GFLOP/s of the products; speed-up over rung 0 in the same launch mode");
  std::fflush(stdout);
}

void report::add(shape_result const& result, product_result const& product) {
  shape const& s = result.row;
  std::vector<result_line> const lines = result_lines(result);
  double const product_gflops =
      product.rate.repetitions > 0 ? gflops(product_rate::operations(), product.rate.microseconds) : 0;

  std::vector<std::string> const shape_fields = fields_of(s);
  auto const write = [&](std::vector<std::string> const& fields) {
    std::vector<std::string> row = shape_fields;
    row.insert(row.end(), fields.begin(), fields.end());
    csv_.add(row);
  };
  for (result_line const& line : lines) {
    write({line.rung, line.name, line.schedule, name_of(line.pass), name_of(line.mode),
           positive("%.2f", line.time.microseconds), positive("%.0f", line.time.repetitions),
           positive("%.1f", line.gflops), positive("%.3f", line.speedup), positive("%.1f", line.paper_speedup),
           number("%.2e", line.error.value_or(0), line.error.has_value()),
           line.same_bits ? (*line.same_bits ? "yes" : "no") : "", line.reason});
    failures_ += line.failed() ? 1 : 0;
  }
  write({"", "large product", "", "", "", positive("%.2f", product.rate.microseconds),
         positive("%.0f", product.rate.repetitions), positive("%.1f", product_gflops), "", "", "", "", product.reason});

  std::printf("\n%s, %s: hidden %lld, batch %lld, steps %lld, layers %lld\n", s.cell.c_str(), s.precision.c_str(),
              static_cast<long long>(s.hidden), static_cast<long long>(s.batch), static_cast<long long>(s.steps),
              static_cast<long long>(s.layers));
  if (product.reason.empty())
    std::printf("a product of two matrices of %lld x %lld: %.0f GFLOP/s\n",
                static_cast<long long>(product_rate::extent), static_cast<long long>(product_rate::extent),
                product_gflops);
  else std::printf("no product rate: %s\n", product.reason.c_str());
  for (std::size_t i = 0; i < lines.size(); i += launch_modes.size()) {  // the modes of a rung stand together
    if (i == 0 || lines[i].pass != lines[i - 1].pass)
      std::printf("\n  %-29s | %10s %9s %7s | %10s %9s %7s | %5s | %s\n", name_of(lines[i].pass), "stream us",
                  "GFLOP/s", "speedup", "graph us", "GFLOP/s", "speedup", "paper", "error");
    print_line(lines[i], lines[i + 1]);
  }
  std::fflush(stdout);
}

}  // namespace bench::ladder
