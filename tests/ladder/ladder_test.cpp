// What the ladder does without a GPU: its command line, its arithmetic, its table of schedules and its files.

#include <cxxabi.h>
#include <getopt.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <vector>

#include <gtest/gtest.h>

#include "ladder/flops.hpp"
#include "ladder/options.hpp"
#include "ladder/report.hpp"
#include "ladder/rungs.hpp"
#include "schedules.hpp"

namespace {

using bench::launch_mode;
using bench::timed_pass;
using bench::ladder::known_names;
using bench::ladder::result_line;

// ---- options --------------------------------------------------------------------------------------------------------

bench::ladder::options parse(std::vector<std::string> words) {
  known_names const known{{"lstm", "gru"}, {"fp32", "fp16"}, {"0", "1", "2"}};
  words.insert(words.begin(), "rnnopt_ladder");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  optind = 0;  // getopt starts again
  return bench::ladder::parse_options(int(words.size()), arguments.data(), known);
}

std::string refusal(std::vector<std::string> const& words) {
  try {
    parse(words);
  } catch (std::invalid_argument const& refused) {
    return refused.what();
  }
  return {};
}

TEST(ladder_options, are_those_of_the_paper_unless_given) {
  bench::ladder::options const o = parse({});
  EXPECT_EQ(o.cells, (std::vector<std::string>{"lstm", "gru"}));
  EXPECT_EQ(o.precisions, std::vector<std::string>{"fp32"});
  EXPECT_EQ(o.rungs, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(std::make_tuple(o.hidden, o.batch, o.steps, o.layers), std::make_tuple(512, 64, 100, 4));
  EXPECT_TRUE(o.check && o.cudnn && !o.help);
  EXPECT_EQ(o.products, rnnopt::product_choice::heuristic);
}

TEST(ladder_options, are_taken) {
  bench::ladder::options const o =
      parse({"--cell",   "gru",        "--precision",   "fp16,fp32", "--rungs",    "0,2",   "--hidden",
             "96",       "--batch=3",  "--steps",       "7",         "--layers",   "2",     "--products",
             "measured", "--no-cudnn", "--repetitions", "4",         "--no-check", "--csv", "f"});
  EXPECT_EQ(o.cells, std::vector<std::string>{"gru"});
  EXPECT_EQ(o.precisions, (std::vector<std::string>{"fp16", "fp32"}));
  EXPECT_EQ(o.rungs, (std::vector<std::string>{"0", "2"}));
  EXPECT_EQ(std::make_tuple(o.hidden, o.batch, o.steps, o.layers), std::make_tuple(96, 3, 7, 2));
  EXPECT_TRUE(!o.check && !o.cudnn);
  EXPECT_EQ(o.products, rnnopt::product_choice::measured);
  EXPECT_EQ(o.repetitions, 4);
  EXPECT_EQ(o.csv, "f");
}

TEST(ladder_options, are_refused_by_name) {
  EXPECT_EQ(refusal({"--cell", "lstm,elman"}), "--cell does not know 'elman'; known: lstm,gru");
  EXPECT_EQ(refusal({"--rungs", "3"}), "--rungs does not know '3'; known: 0,1,2");
  EXPECT_EQ(refusal({"--layers", "0"}), "--layers is '0', needs an integer of at least 1");
  EXPECT_EQ(refusal({"--hidden", "512x"}), "--hidden is '512x', needs an integer of at least 1");
  EXPECT_EQ(refusal({"--products", "best"}), "--products is 'best', needs heuristic, measured or measured_together");
  EXPECT_EQ(refusal({"--csv"}), "--csv needs a value (see --help)");
  EXPECT_EQ(refusal({"--fast"}), "bad option '--fast' (see --help)");
  EXPECT_EQ(refusal({"lstm"}), "unexpected 'lstm' (see --help)");
}

// ---- operations -----------------------------------------------------------------------------------------------------

TEST(ladder_flops, count_two_operations_a_weight_row_and_step) {
  // 4 gates of 512 x 1024 weights, 64 rows, 100 steps.
  EXPECT_EQ(bench::ladder::floating_point_operations({"lstm", 512, 64, 100, 1, "fp32"}), 26'843'545'600.0);
  EXPECT_EQ(bench::ladder::floating_point_operations({"lstm", 512, 64, 100, 4, "fp16"}), 4 * 26'843'545'600.0);
  EXPECT_EQ(bench::ladder::floating_point_operations({"gru", 512, 64, 100, 1, "fp32"}), 0.75 * 26'843'545'600.0);
  EXPECT_EQ(bench::ladder::floating_point_operations({"vanilla_tanh", 3, 5, 7, 2, "fp32"}), 2.0 * 3 * 6 * 5 * 7 * 2);
  EXPECT_THROW(bench::ladder::floating_point_operations({"elman", 3, 5, 7, 2, "fp32"}), std::invalid_argument);
  EXPECT_DOUBLE_EQ(bench::ladder::gflops(3e9, 1.5e6), 2);  // 3 GFLOP in 1.5 s
}

// ---- rungs ----------------------------------------------------------------------------------------------------------

template <class T>
std::string name_of_type() {
  std::unique_ptr<char, void (*)(void*)> const name(abi::__cxa_demangle(typeid(T).name(), nullptr, nullptr, nullptr),
                                                    &std::free);
  std::string const bare = std::regex_replace(std::string(name.get()), std::regex("rnnopt::schedules::"), "");
  return std::regex_replace(std::regex_replace(bare, std::regex("([0-9])l"), "$1"), std::regex(" >"), ">");
}

TEST(ladder_rungs, are_the_schedules_that_they_are_said_to_be) {
  auto const expect_named = [](auto const& rung) {
    EXPECT_EQ(name_of_type<typename std::decay_t<decltype(rung)>::type>(), rung.schedule);
  };
  std::apply([&](auto const&... rung) { (expect_named(rung), ...); }, bench::ladder::rungs);
}

TEST(ladder_rungs, have_the_names_that_rnnopt_bench_has_for_the_same_schedules) {
  int shared = 0;
  auto const compare = [&](auto const& rung, auto const& compiled) {
    using type = typename std::decay_t<decltype(rung)>::type;
    bool const same = std::is_same_v<type, typename std::decay_t<decltype(compiled)>::type>;
    EXPECT_EQ(same, std::string(rung.name) == compiled.name) << rung.name << " and " << compiled.name;
    shared += same ? 1 : 0;
  };
  auto const compare_with_all = [&](auto const& rung) {
    std::apply([&](auto const&... compiled) { (compare(rung, compiled), ...); }, bench::compiled_schedules);
  };
  std::apply([&](auto const&... rung) { (compare_with_all(rung), ...); }, bench::ladder::rungs);
  EXPECT_GT(shared, 0);
}

TEST(ladder_rungs, reorder_a_rung_below) {
  auto const rungs = bench::ladder::rung_descriptions();
  int reordered = 0;
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    if (rungs[i].same_as.empty()) continue;
    ++reordered;
    bool below = false;
    for (std::size_t j = 0; j < i; ++j) below = below || rungs[j].name == rungs[i].same_as;
    EXPECT_TRUE(below) << rungs[i].name;
  }
  EXPECT_EQ(reordered, 2);
}

// ---- results --------------------------------------------------------------------------------------------------------

constexpr std::size_t forward = std::size_t(timed_pass::forward_training);

/// Forward in times that are easy to divide by, backward in twice those; 2 * 10^9 operations.
bench::shape_result made_up_result() {
  bench::shape_result result{{"lstm", 500, 10, 50, 1, "fp32"}, {}, {}};
  auto const rung = [&](std::size_t number, double stream, double graph) {
    bench::schedule_result added{};
    added.schedule = bench::ladder::rung_descriptions()[number].name;
    for (timed_pass const pass : bench::ladder::ladder_passes) {
      double const factor = pass == timed_pass::backward_data ? 2 : 1;
      added.times.at(pass, launch_mode::stream) = {factor * stream, 15, {}};
      added.times.at(pass, launch_mode::graph) = {factor * graph, 15, {}};
      added.errors[std::size_t(pass)] = 3e-7;
      added.fingerprints[std::size_t(pass)] = 42;
    }
    result.schedules.push_back(added);
  };
  rung(0, 8000, 4000);
  rung(1, 4000, 2000);
  rung(2, 2000, 1000);
  bench::cudnn_result cudnn{"standard", {}, {}};
  for (timed_pass const pass : bench::ladder::ladder_passes) {
    cudnn.times.at(pass, launch_mode::stream) = {1000, 15, {}};
    cudnn.times.at(pass, launch_mode::graph).reason = "refused, \"for now\"";
  }
  result.cudnn.push_back(cudnn);
  return result;
}

result_line const& line_of(std::vector<result_line> const& lines, std::string const& rung, timed_pass pass,
                           launch_mode mode) {
  for (result_line const& line : lines)
    if (line.rung == rung && line.pass == pass && line.mode == mode) return line;
  throw std::logic_error("no line of rung " + rung);
}

result_line forward_graph(bench::shape_result const& result, std::string const& rung) {
  return line_of(bench::ladder::result_lines(result), rung, timed_pass::forward_training, launch_mode::graph);
}

TEST(ladder_results, are_rates_and_speedups_in_the_same_pass_and_mode) {
  auto const lines = bench::ladder::result_lines(made_up_result());
  EXPECT_EQ(lines.size(), 16u);  // three rungs and cuDNN, in two passes and modes
  result_line const& stream = line_of(lines, "2", timed_pass::forward_training, launch_mode::stream);
  EXPECT_DOUBLE_EQ(stream.gflops, 1000);
  EXPECT_DOUBLE_EQ(stream.speedup, 4);
  EXPECT_DOUBLE_EQ(stream.paper_speedup, 2.8);
  result_line const& backward = line_of(lines, "1", timed_pass::backward_data, launch_mode::graph);
  EXPECT_DOUBLE_EQ(backward.gflops, 500);
  EXPECT_DOUBLE_EQ(backward.speedup, 2);
  EXPECT_EQ(backward.paper_speedup, 0);  // the paper's table is of forward
  for (result_line const& line : lines) EXPECT_FALSE(line.failed()) << line.name;
}

TEST(ladder_results, that_differ_fail) {
  bench::shape_result result = made_up_result();
  EXPECT_EQ(forward_graph(result, "2").same_bits, true);
  EXPECT_EQ(forward_graph(result, "1").same_bits, std::nullopt);
  result.schedules[2].fingerprints[forward] = 43;
  EXPECT_TRUE(forward_graph(result, "2").failed());

  result = made_up_result();
  result.schedules[1].errors[forward] = 0.5;
  EXPECT_TRUE(forward_graph(result, "1").failed());
  EXPECT_FALSE(forward_graph(result, "0").failed());
}

TEST(ladder_results, that_are_missing_fail) {
  bench::shape_result result = made_up_result();
  result.schedules[1].times.at(timed_pass::forward_training, launch_mode::graph) = {0, 0, "out of memory"};
  EXPECT_TRUE(forward_graph(result, "1").failed());
  EXPECT_EQ(forward_graph(result, "1").reason, "out of memory");

  result = made_up_result();
  result.schedules[0].check_reason = "out of memory";
  EXPECT_TRUE(forward_graph(result, "0").failed());
  EXPECT_EQ(forward_graph(result, "0").reason, "not compared: out of memory");
}

TEST(ladder_results, have_no_speedup_without_rung_0) {
  bench::shape_result result = made_up_result();
  result.schedules.erase(result.schedules.begin());
  EXPECT_EQ(forward_graph(result, "2").speedup, 0);
}

std::string text_of(std::string const& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(ladder_report, writes_the_csv_that_the_picture_is_drawn_from) {
  std::string const path = testing::TempDir() + "rnnopt_ladder_results.csv";
  bench::shape_result wrong = made_up_result();
  wrong.row.precision = "fp16";
  wrong.schedules[1].errors[forward] = 0.5;
  wrong.schedules[2].fingerprints[forward] = 43;
  testing::internal::CaptureStdout();
  {
    bench::ladder::report report({"device: made up"}, path);
    report.add(made_up_result(), {{54975.581388, 15}, {}});
    EXPECT_EQ(report.failures(), 0);
    report.add(wrong, {{}, "out of memory"});
    EXPECT_EQ(report.failures(), 4);  // two rungs in two modes
  }
  std::string const table = testing::internal::GetCapturedStdout();
  EXPECT_NE(table.find("# rung 1, combined_gates: one product for all gates\n"), std::string::npos);
  EXPECT_NE(table.find("WRONG"), std::string::npos);
  EXPECT_NE(table.find("OTHER BITS"), std::string::npos);
  EXPECT_NE(table.find("no product rate: out of memory"), std::string::npos);
  std::string const expected = text_of(RESULTS);
  EXPECT_FALSE(expected.empty());
  EXPECT_EQ(text_of(path), expected);
  std::remove(path.c_str());
}

}  // namespace
