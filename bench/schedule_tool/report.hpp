#pragma once

#include <string>
#include <vector>

#include "options.hpp"
#include "timeline.hpp"

namespace schedule_tool {

/// What is known of the network, for headings: "lstm, fp16, hidden 512, ...".
std::string network_of(options const& asked);

/// Everything about a schedule in numbers, and the drawing.
std::string report_of(options const& asked, std::vector<rnnopt::operation> const& operations,
                      std::vector<span> const& spans);

}  // namespace schedule_tool
