#include "svg.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "drawing.hpp"

namespace schedule_tool {
namespace {

// In pixels.
constexpr double left = 70, top = 70, plot_width = 1500, row_height = 34, box_height = 24, letter_width = 6.5,
                 small_letter_width = 5.7;

char const* const centred = " text-anchor='middle'";
char const* const centred_and_small = " text-anchor='middle' font-size='9'";

std::string print(char const* format, double value) {
  char text[32];
  std::snprintf(text, sizeof text, format, value);
  return text;
}
std::string number(double value) { return print("%.2f", value); }

std::string escaped(std::string const& text) {
  std::string result;
  for (char const c : text) {
    if (c == '&') result += "&amp;";
    else if (c == '<') result += "&lt;";
    else if (c == '>') result += "&gt;";
    else result += c;
  }
  return result;
}

std::string text_at(double x, double y, std::string const& text, char const* attributes = "") {
  return "<text x='" + number(x) + "' y='" + number(y) + "'" + attributes + ">" + escaped(text) + "</text>\n";
}

std::string box(double x, double y, double width, char const* colour, std::string const& inside) {
  return "<rect x='" + number(x) + "' y='" + number(y) + "' width='" + number(width) + "' height='" +
         number(box_height) + "' fill='" + colour + "'>" + inside + "</rect>\n";
}

/// What to write into a box: layer and steps, as much of it as there is room for.
std::string label_of(rnnopt::operation const& op, double box_width) {
  std::string const layer = std::to_string(op.line.layer) + (op.line.direction == 1 ? "r" : "");
  std::string steps;
  if (op.steps > 0) steps = std::to_string(op.first_step);
  if (op.steps > 1) steps += "-" + std::to_string(op.first_step + op.steps - 1);
  for (std::string const& text :
       {"layer " + layer + (steps.empty() ? "" : ", step " + steps), layer + (steps.empty() ? "" : ":" + steps)})
    if (double(text.size()) * small_letter_width < box_width) return text;
  return {};
}

/// Marks at round numbers, ten of them or so.
std::string time_axis(double total, double scale, double bottom) {
  std::string text;
  double const about = std::max(total / 10, 1e-3), power = std::pow(10, std::floor(std::log10(about)));
  double const step = about / power < 2 ? 2 * power : about / power < 5 ? 5 * power : 10 * power;
  for (double time = 0; time <= total; time += step) {
    double const x = left + time * scale;
    text += "<line x1='" + number(x) + "' y1='" + number(top) + "' x2='" + number(x) + "' y2='" + number(bottom) +
            "' stroke='#dddddd'/>\n" + text_at(x, bottom + 14, print("%g us", time), centred);
  }
  return text;
}

}  // namespace

std::string svg_of(std::string const& title, std::vector<rnnopt::operation> const& operations,
                   std::vector<span> const& spans) {
  std::map<int, int> const rows = rows_of_lanes(operations);
  double const total = total_time(spans), scale = total > 0 ? plot_width / total : 0;
  double const bottom = top + row_height * double(rows.size());
  auto const x_of = [&](double time) { return left + time * scale; };
  auto const middle_of = [&](int lane) { return top + row_height * (double(rows.at(lane)) + 0.5); };

  std::string text = "<svg xmlns='http://www.w3.org/2000/svg' width='" + number(left + plot_width + 50) + "' height='" +
                     number(bottom + 30) + "' font-family='monospace' font-size='10.5'>\n";
  text +=
      "<defs><marker id='head' viewBox='0 0 6 6' refX='6' refY='3' markerWidth='6' markerHeight='6' orient='auto'>"
      "<path d='M0,0 L6,3 L0,6' fill='none' stroke='#555555'/></marker></defs>\n";
  text += "<rect width='100%' height='100%' fill='white'/>\n" + text_at(left, 18, title);
  double x = left;
  for (auto const& [letter, look] : appearances_in(operations)) {
    text += box(x, 28, box_height, look.colour, "") + text_at(x + box_height + 6, 44, look.meaning);
    x += box_height + 30 + letter_width * double(std::string(look.meaning).size());
  }
  text += text_at(x, 44, "in a box: layer (r: reversed), steps; arrow: a lane waits for another");

  text += time_axis(total, scale, bottom);
  for (auto const& [lane, row] : rows) text += text_at(8, middle_of(lane) + 4, "lane " + std::to_string(lane));
  text += "<g stroke='#ffffff' stroke-width='0.4'>\n";
  for (std::size_t i = 0; i < operations.size(); ++i)
    if (is_work(operations[i]))
      text += box(x_of(spans[i].start), middle_of(operations[i].lane) - box_height / 2, spans[i].length() * scale,
                  appearance_of(operations[i].kind).colour,
                  "<title>" + escaped(to_string(operations[i])) + ", " + number(spans[i].start) + " to " +
                      number(spans[i].end) + " us</title>");
  text += "</g>\n";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (!is_work(operations[i])) continue;
    std::string const label = label_of(operations[i], spans[i].length() * scale);
    if (!label.empty())
      text += text_at(x_of((spans[i].start + spans[i].end) / 2), middle_of(operations[i].lane) + 3, label,
                      centred_and_small);
  }
  std::map<int, std::size_t> signals;
  text += "<g stroke='#555555' stroke-width='0.8'>\n";
  for (std::size_t i = 0; i < operations.size(); ++i) {
    rnnopt::operation const& op = operations[i];
    if (op.kind == rnnopt::operation_kind::signal) signals[op.event] = i;
    if (op.kind != rnnopt::operation_kind::wait) continue;
    // From the edge of one lane to the edge of the other, so that no box is crossed out by its own arrow.
    std::size_t const from = signals.at(op.event);
    double const y_from = middle_of(operations[from].lane), y_to = middle_of(op.lane);
    double const edge = y_from < y_to ? box_height / 2 : -box_height / 2;
    text += "<line x1='" + number(x_of(spans[from].end)) + "' y1='" + number(y_from + edge) + "' x2='" +
            number(x_of(spans[i].end)) + "' y2='" + number(y_to - edge) + "' marker-end='url(#head)'/>\n";
  }
  return text + "</g>\n</svg>\n";
}

}  // namespace schedule_tool
