#include "tests/proof/hard_cases.h"

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

namespace phasor::proof {
namespace {

ElementType TypeOfName(const std::string& name) {
  for (int type = 0; type < 4; ++type) {
    if (ElementTypeName(static_cast<ElementType>(type)) == name) {
      return static_cast<ElementType>(type);
    }
  }
  std::abort();
}

}  // namespace

Sinusoidal HardCase::Spec() const {
  Sinusoidal spec{.width = width};
  if (ladder == "explicit") {
    spec.ladder = ExplicitLadder{{parameter}};
    return spec;
  }
  spec.base = base;
  if (ladder == "inclusive") spec.ladder = InclusiveLadder{};
  if (ladder == "downscaled") spec.ladder = DownscaledLadder{parameter};
  return spec;
}

std::vector<HardCase> LoadHardCases(const std::string& path) {
  std::vector<HardCase> cases;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::istringstream fields(line);
    HardCase c;
    std::string type;
    std::string base;
    std::string parameter;
    std::string function;
    std::string bits;
    std::string near;
    fields >> type >> c.ladder >> c.width >> base >> parameter >> c.position >> c.pair >>
        function >> bits >> near >> c.log2_distance >> c.wrong_through;
    if (!fields) std::abort();
    c.type = TypeOfName(type);
    c.base = std::strtod(base.c_str(), nullptr);
    c.parameter = std::strtod(parameter.c_str(), nullptr);
    c.sine = function == "sin";
    c.bits = std::strtoull(bits.c_str(), nullptr, 16);
    c.near_zero = near == "zero";
    cases.push_back(c);
  }
  return cases;
}

void SaveHardCases(const std::string& path, const std::string& head,
                   const std::vector<HardCase>& cases) {
  std::ofstream file(path);
  file << head
       << "# type\tladder\twidth\tbase\tshift or frequency\tposition\tpair\tfunction\tbits\tnear\t"
          "log2 distance\twrong through\n";
  for (const HardCase& c : cases) {
    char line[256];
    std::snprintf(
        line, sizeof(line),
        "%s\t%s\t%" PRId64 "\t%a\t%a\t%" PRId64 "\t%" PRId64 "\t%s\t%0*" PRIx64 "\t%s\t%.2f\t%s\n",
        std::string(ElementTypeName(c.type)).c_str(), c.ladder.c_str(), c.width, c.base,
        c.parameter, c.position, c.pair, c.sine ? "sin" : "cos", 2 * ElementBytes(c.type), c.bits,
        c.near_zero ? "zero" : "midpoint", c.log2_distance, c.wrong_through.c_str());
    file << line;
  }
  if (!file.flush()) {
    std::cerr << "cannot write " << path << '\n';
    std::exit(1);
  }
}

}  // namespace phasor::proof
