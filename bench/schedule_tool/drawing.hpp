#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "appearance.hpp"
#include "timeline.hpp"

namespace schedule_tool {

/// The lanes that a list uses, with their place from top to bottom.
std::map<int, int> rows_of_lanes(std::vector<rnnopt::operation> const& operations);

/// What is drawn, by letter: what a legend has to explain.
std::map<char, appearance> appearances_in(std::vector<rnnopt::operation> const& operations);

/// How many places of time a line of so many columns has, beside the name of its lane.
std::size_t drawing_places(int columns);

/// A drawing of text: one line a lane, time to the right. Every place has the letter of what takes most of its time.
/// @pre columns is at least 20
std::string drawing_of(std::vector<rnnopt::operation> const& operations, std::vector<span> const& spans, int columns);

}  // namespace schedule_tool
