// One unit of a program of UNITS units that use the templates of the standard library: for
// inline.sh.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#define JOIN_(a, b)    a##b
#define JOIN(a, b)     JOIN_(a, b)
#define UNIT_NAMESPACE JOIN(unit_, UNIT)

namespace UNIT_NAMESPACE
{

struct record {
	std::string name;
	double value;
	std::vector<int> parts;
	bool operator<(const record &other) const { return name < other.name; }
};

static void fill(std::map<std::string, record> &table, std::istream &in)
{
	static const std::regex line("([a-z_]+)\\s*=\\s*([0-9.]+)(,[0-9]+)*"), number(",([0-9]+)");
	std::string text;

	while (std::getline(in, text)) {
		std::smatch match;

		if (!std::regex_match(text, match, line))
			continue;
		record r{match[1], std::stod(match[2]), {}};
		for (std::sregex_iterator at(text.begin(), text.end(), number), end; at != end;
		     ++at)
			r.parts.push_back(std::stoi((*at)[1]));
		table[r.name] = r;
	}
}

int run(std::istream &in, std::ostream &out)
{
	std::map<std::string, record> table;
	std::unordered_map<size_t, std::set<record>> by_parts;

	fill(table, in);
	for (auto &each : table) {
		auto &parts = each.second.parts;

		std::sort(parts.begin(), parts.end(), std::greater<int>());
		by_parts[parts.size()].insert(each.second);
	}
	for (auto &each : by_parts)
		for (auto &r : each.second)
			out << each.first << ' ' << r.name << ' ' << r.value << std::endl;
	return (int)by_parts.size() + UNIT;
}

} // namespace UNIT_NAMESPACE

#if UNIT == 0
int main()
{
	return unit_0::run(std::cin, std::cout);
}
#endif
