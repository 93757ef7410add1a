#include <random/numbers.h>
#include <time/seconds.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>

int main() {
  std::array<std::uint32_t, 3> y{};
  std::int64_t s = 0;
  if (!random::numbers(7u, y) || !time::seconds(std::int64_t{2}, s)) return 1;
  const bool is_right = y[0] == 7u * 2654435769u && y[2] == 9u * 2654435769u && s == 172800;
  return is_right && ::time(nullptr) > 0 && ::random() >= 0 ? 0 : 2;
}
