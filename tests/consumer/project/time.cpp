#include <kiln/dsl.h>

#include <ctime>
using namespace kiln;

struct seconds : program<seconds> {
  in<i64> days;
  out<i64> y;
  constexpr void body() { y = days * 86400; }
};

static const programs<seconds> exported;
