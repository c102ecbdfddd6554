#include "drawing.hpp"

#include <algorithm>

namespace schedule_tool {

std::map<int, int> rows_of_lanes(std::vector<rnnopt::operation> const& operations) {
  std::map<int, int> rows;
  for (rnnopt::operation const& op : operations) rows[op.lane] = 0;
  int row = 0;
  for (auto& [lane, place] : rows) place = row++;
  return rows;
}

std::map<char, appearance> appearances_in(std::vector<rnnopt::operation> const& operations) {
  std::map<char, appearance> found;
  for (rnnopt::operation const& op : operations)
    if (is_work(op)) found.emplace(appearance_of(op.kind).letter, appearance_of(op.kind));
  return found;
}

std::size_t drawing_places(int columns) {
  int const name = 9, bar = 1;
  return std::size_t(columns - name - bar);
}

std::string drawing_of(std::vector<rnnopt::operation> const& operations, std::vector<span> const& spans, int columns) {
  std::size_t const places = drawing_places(columns);
  double const place_length = total_time(spans) / double(places);
  std::map<int, std::vector<std::map<char, double>>> shares;  // of each lane and place: the time of each letter
  for (std::size_t i = 0; i < operations.size(); ++i) {
    auto& lane = shares[operations[i].lane];
    lane.resize(places);
    if (!is_work(operations[i])) continue;
    span const& s = spans[i];
    for (auto place = std::size_t(s.start / place_length); place < places; ++place) {
      double const begin = double(place) * place_length;
      if (begin >= s.end) break;
      lane[place][appearance_of(operations[i].kind).letter] +=
          std::min(s.end, begin + place_length) - std::max(s.start, begin);
    }
  }

  std::string text;
  for (auto const& [lane, line] : shares) {
    std::string name = std::to_string(lane);
    name.insert(0, name.size() < 4 ? 4 - name.size() : 0, ' ');
    text += "lane" + name + " ";
    for (auto const& letters : line) {
      double work = 0;
      for (auto const& [letter, time] : letters) work += time;
      auto const most =
          std::max_element(letters.begin(), letters.end(), [](auto& a, auto& b) { return a.second < b.second; });
      text += work < place_length / 2 ? '.' : most->first;
    }
    text += "|\n";
  }
  return text;
}

}  // namespace schedule_tool
