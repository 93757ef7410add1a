// The headline benchmark: workloads as rows of a table, and peers that compute them. Each peer is a program of its own, because
// libraries of one interface exclude each other in a process. headline.py starts the programs in turn and compares their times.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kiln/dtype.h"

namespace kiln::headline {

using extents = std::vector<std::int64_t>;

// A row of rows/*.def.
struct workload {
  std::string_view name, family, type;
  extents e;
};
const std::vector<workload>& workloads();
const workload& find_workload(std::string_view name);

// A row with symbolic extents serves all workloads of its family and type. `arguments` is the text of its extents: "M, K, 64".
struct symbolic_row {
  std::string_view family, type, arguments;
};
const std::vector<symbolic_row>& symbolic_rows();

inline std::int64_t count(const extents& e) {
  std::int64_t n = 1;
  for (const std::int64_t i : e) n *= i;
  return n;
}
std::int64_t size_of(kiln_dtype t);
kiln_dtype type_of(std::string_view name);  // "f32", "bf16" ..

struct buffer_release {
  void operator()(void* p) const;
};
using buffer = std::unique_ptr<void, buffer_release>;
buffer allocate(std::int64_t bytes);  // 64-byte aligned; large buffers ask for huge pages

// A dense row-major argument.
struct array {
  kiln_dtype type = KILN_F32;
  extents shape;
  bool updated = false;  // an output that is also read
  buffer data = nullptr;

  template <class T>
  T* as() const {
    return static_cast<T*>(data.get());
  }
  const float* f() const { return as<const float>(); }
  std::int64_t elements() const { return count(shape); }
  double operator[](std::int64_t i) const;  // any type, as double
};

// A workload with its memory. Inputs are filled by a fixed rule.
struct problem {
  const workload* row = nullptr;
  std::vector<array> in, out;

  std::int64_t e(std::size_t i) const { return row->e[i]; }
  float* result() const { return out[0].as<float>(); }
};

// What one element of an input contains: a pseudorandom number in (-1, 1), an integer of the whole
// range of small types, or of 0 .. 255 for i32.
double initial(kiln_dtype type, std::size_t argument, std::int64_t i);

// The definition of a workload: its arguments, one element of its result, and what it costs at least.
struct family {
  std::string_view name;
  void (*arguments)(const workload&, problem&);  // types and shapes; the memory comes later
  // Element i of result `out`, by a simple computation in double.
  double (*element)(const problem&, std::size_t out, std::int64_t i);
  // Operations. One slot of a multiply-add unit counts 2: a product with its sum, but also a division's share of one.
  double (*work)(const workload&);
  // Allowed for f32: |result - reference| <= tolerance * max(1, |reference|); for f64 a 1e-8th of that. For integers: a
  // difference.
  double tolerance = 1e-5, difference = 0;
  double (*cost)(const workload&) = nullptr;  // of one element of the reference; default: the share of it in the work
};
void add(const family&);
const family& find_family(std::string_view name);
double bytes_of(const problem&);    // that a run must read and write
double written_of(const problem&);  // of these, written
problem make_problem(const workload&);

// A peer's way to compute a workload: run() is measured; finish(), if there is one, brings the result into p.out.
struct job {
  std::function<void()> run, finish = nullptr;
};
struct peer {
  std::string_view family, types, variant;  // types: "f32 f64"
  job (*make)(problem&);
  bool (*takes)(const workload&) = nullptr;  // further conditions
};
void add(const peer&);
// Adds all entries when the program starts: static const peers here{{..}, {..}};
struct peers {
  peers(std::initializer_list<peer> list) {
    for (const peer& p : list) add(p);
  }
};
struct families {
  families(std::initializer_list<family> list) {
    for (const family& f : list) add(f);
  }
};
int threads();  // that a peer may use

// The first element that is wrong, as text; empty: none.
std::string check(const problem&);

// Keeps the compiler from dropping a computation.
inline void keep(const void* p) { asm volatile("" : : "g"(p) : "memory"); }

}  // namespace kiln::headline
