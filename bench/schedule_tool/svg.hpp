#pragma once

#include <string>
#include <vector>

#include "timeline.hpp"

namespace schedule_tool {

/// A picture as an SVG document: lanes are rows, time goes to the right, operations are boxes, waits are arrows from
/// their signals.
std::string svg_of(std::string const& title, std::vector<rnnopt::operation> const& operations,
                   std::vector<span> const& spans);

}  // namespace schedule_tool
