#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>
#include <stdexcept>
#include <string>

#include "grid.hpp"

namespace {

/// A file of this test's own, gone with it.
class grid_file {
 public:
  explicit grid_file(std::string const& text)
      : path_(testing::TempDir() + "rnnopt_grid_" + testing::UnitTest::GetInstance()->current_test_info()->name() +
              ".csv") {
    std::ofstream(path_) << text;
  }
  grid_file(grid_file const&) = delete;
  grid_file& operator=(grid_file const&) = delete;
  ~grid_file() { std::remove(path_.c_str()); }
  std::string const& path() const { return path_; }

 private:
  std::string path_;
};

std::string refusal_of(std::string const& text) {
  grid_file const file(text);
  try {
    bench::read_grid(file.path());
  } catch (std::invalid_argument const& refused) {
    return std::string(refused.what()).substr(file.path().size());
  }
  return "read";
}

void expect_distinct_shapes(std::string const& file, std::size_t rows_expected) {
  SCOPED_TRACE(file);
  auto const shapes = bench::read_grid(GRIDS + file);
  EXPECT_EQ(shapes.size(), rows_expected);
  std::set<std::string> rows;
  for (auto const& s : shapes) {
    EXPECT_TRUE(rows.insert(bench::row_of(s)).second) << bench::row_of(s) << " is there twice";
    EXPECT_GT(s.hidden, 0) << bench::row_of(s);
    EXPECT_GT(s.batch, 0) << bench::row_of(s);
    EXPECT_GT(s.steps, 0) << bench::row_of(s);
    EXPECT_GT(s.layers, 0) << bench::row_of(s);
  }
}

TEST(grid, of_the_repository) {
  expect_distinct_shapes("grid.csv", 36);
  expect_distinct_shapes("grid_of_clusters.csv", 12);
  expect_distinct_shapes("grid_map.csv", 5 * 6);
  expect_distinct_shapes("grid_persistent_rnns.csv", 2 * 7);
}

TEST(grid, columns_in_any_order) {
  grid_file const file(
      "# a comment\n\nprecision, extra, layers,steps,batch,hidden,cell\r\n"
      "bf16, ignored, 5,4,3,2,gru\r\n");
  auto const shapes = bench::read_grid(file.path());
  ASSERT_EQ(shapes.size(), 1u);
  EXPECT_EQ(bench::row_of(shapes[0]), "gru,2,3,4,5,bf16");
}

TEST(grid, refusals) {
  std::string const header = "cell,hidden,batch,steps,layers,precision\n";
  EXPECT_EQ(refusal_of(""), ": the grid is empty, needs a header line");
  EXPECT_EQ(refusal_of("cell,hidden\n"),
            ":1: the header names no column 'batch', needs cell,hidden,batch,steps,layers,precision");
  EXPECT_EQ(refusal_of(header + "lstm,8,8,8,1\n"), ":2: no value for 'precision'");
  EXPECT_EQ(refusal_of(header + "lstm,8,many,8,1,fp16\n"), ":2: batch is 'many', needs an integer");
  EXPECT_THROW(bench::read_grid("there is no such file"), std::invalid_argument);
}

}  // namespace
