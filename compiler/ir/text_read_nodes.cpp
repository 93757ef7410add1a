// Reads nodes of any level. Only their arity is checked here: run the verifier on the result.
#include <algorithm>

#include "compiler/ir/literal.h"
#include "compiler/ir/nth.h"
#include "compiler/ir/text.h"
#include "compiler/ir/text_reader.h"

namespace kiln::compiler {
namespace {

std::int64_t named_argument(TextReader& r, Op op, std::size_t position) {
  const auto w = r.scan.peek_word();
  std::optional<std::int64_t> v;
  const auto take = [&](auto e) {
    if (e) v = Arg(*e).value;
  };
  if (op == Op::RANGE && position == 1) take(range_kind_from_name(w));
  if ((op == Op::REDUCE || op == Op::SCAN) && position == 0) take(reduce_kind_from_name(w));
  if (op == Op::REDUCE && position == 1 && (w == "sequential" || w == "striped")) v = w == "striped" ? 1 : 0;
  if (op == Op::PAD && position == 0) take(pad_mode_from_name(w));
  if (op == Op::ATOMIC && position == 0) take(atomic_kind_from_name(w));
  if (!v) return r.scan.integer("an argument of `" + std::string(name(op)) + "`");
  r.scan.accept_word(w);
  return *v;
}

std::vector<std::int64_t> arguments(TextReader& r, Op op, DType d) {
  std::vector<std::int64_t> out;
  if (!r.scan.accept('{')) return out;
  do {
    const bool value = op == Op::CONST && out.empty();
    out.push_back(value ? Arg(r.scan.literal(d)).value : named_argument(r, op, out.size()));
  } while (r.scan.accept(','));
  r.scan.expect('}');
  return out;
}

void read_node(TextReader& r) {
  const std::uint64_t number = r.definition();
  const Op op = r.operation();
  int lanes = 1;
  const DType d = r.type(lanes);
  const auto args = arguments(r, op, d);
  std::vector<Id> src;
  if (r.scan.peek() == '%') {
    do src.push_back(r.node());
    while (r.scan.accept(','));
  }
  const std::string n = r.scan.peek() == '"' ? r.scan.quoted("a name") : std::string();
  if (arity(op) >= 0 && std::ssize(src) != arity(op))
    r.scan.reject("`" + std::string(name(op)) + "` expected " + std::to_string(arity(op)) + " sources, got " +
                  std::to_string(src.size()));
  if (op == Op::CONST && args.size() != 1) r.scan.reject("`const` expected one value, got " + std::to_string(args.size()));
  r.location();
  r.define(number, r.graph.make(op, d, src, args, n, lanes));
}

void read_buffer(TextReader& r, Schedule& s) {
  Buffer b;
  int lanes = 1;
  b.dtype = r.type(lanes);
  while (!r.scan.at_line_end()) {
    if (r.scan.accept_word("size")) {
      b.size = r.node();
    } else if (r.scan.accept_word("offset")) {
      b.offset = r.node();
    } else if (r.scan.accept_word("tile")) {
      b.tile = r.node();
    } else if (r.scan.accept_word("whole")) {
      b.whole = true;
    } else if (r.scan.accept_word("tile_storage")) {
      b.tile_storage = r.node();
    } else if (r.scan.accept_word("param")) {
      const std::uint64_t slot = r.scan.natural("a parameter's slot");
      if (slot >= r.program.params.size()) r.scan.reject("expected a parameter's slot, got " + std::to_string(slot));
      b.param = narrow<int>(slot);
    } else if (r.scan.accept_word("after")) {
      const std::uint64_t before = r.scan.natural("a buffer above");
      if (before >= s.buffers.size()) r.scan.reject("expected a buffer above, got " + std::to_string(before));
      b.after = narrow<int>(before);
    } else if (r.scan.accept_word("among")) {
      b.among = r.small_list();
    } else if (r.scan.accept_word("count")) {
      b.count = r.node();
    } else {
      r.scan.fail("`size`, `offset`, `whole`, `tile`, `tile_storage`, `param`, `after`, `among` or `count`");
    }
  }
  if (b.size == no_id) r.scan.reject("`buffer` expected a size, got none");
  if ((b.tile == no_id) != (b.tile_storage == no_id))
    r.scan.reject("`buffer` expected `tile` and `tile_storage` together, got one");
  if (b.among.empty() != (b.count == no_id)) r.scan.reject("`buffer` expected `among` and `count` together, got one");
  for (const int one : b.among)
    if (one >= std::ssize(s.buffers)) r.scan.reject("expected a buffer declared above, got " + std::to_string(one));
  s.buffers.push_back(b);
}

// Reads one field of a lowered kernel. False: the next word is not the name of a field.
bool read_lowered(TextReader& r, LoweredKernel& l) {
  if (r.scan.accept_word("trip_count"))
    l.trip_count = r.node();
  else if (r.scan.accept_word("work"))
    l.work = r.node();
  else if (r.scan.accept_word("alignment"))
    l.alignment = narrow<int>(std::clamp<std::uint64_t>(r.scan.natural("an alignment"), 1, 1 << 20));
  else if (r.scan.accept_word("parallel"))
    l.parallel = true;
  else if (!r.scan.accept_word("serial"))
    return false;
  return true;
}

// Reads a number below n. `what` is for the message.
int number_below(TextReader& r, std::size_t n, const char* what) {
  const std::uint64_t v = r.scan.natural(what);
  if (v >= n) r.scan.reject("expected " + std::string(what) + " declared above, got " + std::to_string(v));
  return narrow<int>(v);
}

void read_loop(TextReader& r, Schedule& s) {
  HostLoop l;
  while (!r.scan.at_line_end()) {
    if (r.scan.accept_word("in"))
      l.parent = number_below(r, s.loops.size(), "a loop");
    else if (r.scan.accept_word("counter"))
      l.counter = r.node();
    else if (r.scan.accept_word("begin"))
      l.begin = r.node();
    else if (r.scan.accept_word("end"))
      l.end = r.node();
    else if (r.scan.accept_word("step"))
      l.step = r.scan.integer("a step");
    else if (r.scan.accept_word("while"))
      l.condition = number_below(r, std::max(s.buffers.size(), r.program.params.size()), "a buffer");
    else if (r.scan.accept_word("count"))
      l.count = r.node();
    else
      r.scan.fail("`in`, `counter`, `begin`, `end`, `step`, `while` or `count`");
  }
  if (l.begin == no_id || l.end == no_id || l.step < 1) r.scan.reject("`loop` expected `begin`, `end` and a step above 0");
  s.loops.push_back(l);
}

std::vector<std::size_t> indices(const std::vector<int>& numbers) { return {numbers.begin(), numbers.end()}; }

std::vector<int> parameters(TextReader& r) {
  std::vector<int> list = r.small_list();
  for (const int p : list)
    if (p >= std::ssize(r.program.params)) r.scan.reject("expected a parameter declared above, got " + std::to_string(p));
  std::ranges::sort(list);
  return list;
}

void read_segment(TextReader& r, Schedule& s) {
  Segment p;
  while (!r.scan.at_line_end()) {
    if (r.scan.accept_word("sink"))
      p.sink = r.node();
    else if (r.scan.accept_word("reads"))
      p.reads = parameters(r);
    else if (r.scan.accept_word("writes"))
      p.writes = parameters(r);
    else if (r.scan.accept_word("in"))
      p.loop = number_below(r, s.loops.size(), "a loop");
    else
      r.scan.fail("`sink`, `reads`, `writes` or `in`");
  }
  s.segments.push_back(p);
}

void read_kernel(TextReader& r, Schedule& s) {
  Kernel k;
  LoweredKernel l;
  bool is_lowered = false;
  if (!r.scan.accept_word("_")) k.name = r.scan.word("a kernel's name");
  while (!r.scan.at_line_end()) {
    if (r.scan.accept_word("sink"))
      k.sink = r.node();
    else if (r.scan.accept_word("buffers"))
      k.buffers = r.small_list();
    else if (r.scan.accept_word("depends_on"))
      k.depends_on = indices(r.small_list());
    else if (r.scan.accept_word("explicit"))
      k.is_explicit = true;
    else if (r.scan.accept_word("at_entry"))
      k.at_entry = r.small_list();
    else if (r.scan.accept_word("segment"))
      k.segment = number_below(r, s.segments.size(), "a segment");
    else if (r.scan.accept_word("in"))
      k.loop = number_below(r, s.loops.size(), "a loop");
    else if (read_lowered(r, l))
      is_lowered = true;
    else
      r.scan.fail(
          "`sink`, `buffers`, `depends_on`, `explicit`, `at_entry`, `segment`, `in` or, of a lowered kernel, `trip_count`, "
          "`work`, "
          "`alignment`, `parallel` or `serial`");
  }
  if (k.sink == no_id) r.scan.reject("`kernel` expected a sink, got none");
  for (int b : k.buffers)
    if (b >= std::ssize(s.buffers)) r.scan.reject("expected a buffer declared above, got " + std::to_string(b));
  for (const std::size_t d : k.depends_on)
    if (d >= s.kernels.size()) r.scan.reject("expected a kernel declared above, got " + std::to_string(d));
  if (is_lowered && (l.trip_count == no_id || l.work == no_id))
    r.scan.reject("a lowered `kernel` expected trip_count and work, got one of them");
  if (s.lowered.size() != (is_lowered ? s.kernels.size() : 0)) r.scan.reject("expected kernels that are all lowered, or none");
  l.sink = k.sink;
  if (is_lowered) s.lowered.push_back(l);
  s.kernels.push_back(std::move(k));
}

}  // namespace

std::vector<Id> read_nodes(Graph& g, std::string_view text, std::string_view file) {
  const LocScope restored(g);
  TextReader r(g, text, file);
  r.header("nodes", false);
  std::vector<Id> roots;
  while (r.scan.next_statement()) {
    if (r.scan.accept_word("root")) {
      roots.push_back(r.node());
      r.scan.end_statement();
    } else {
      read_node(r);
    }
  }
  return roots;
}

Schedule read_schedule(Graph& g, std::string_view text, std::string_view file) {
  const LocScope restored(g);
  TextReader r(g, text, file);
  Schedule s;
  r.program.name = r.header("schedule", true, &s.after);
  while (r.scan.next_statement()) {
    const auto w = r.scan.peek_word();
    if (r.symbol_or_param(w)) continue;
    if (w.empty()) {
      read_node(r);
      continue;
    }
    if (r.scan.accept_word("sink"))
      r.program.sink = r.node();
    else if (r.scan.accept_word("workspace"))
      s.workspace_bytes = r.node();
    else if (r.scan.accept_word("buffer"))
      read_buffer(r, s);
    else if (r.scan.accept_word("loop"))
      read_loop(r, s);
    else if (r.scan.accept_word("segment"))
      read_segment(r, s);
    else if (r.scan.accept_word("kernel"))
      read_kernel(r, s);
    else
      r.scan.fail("a statement of a schedule");
    r.scan.end_statement();
  }
  s.program = std::move(r.program);
  return s;
}

}  // namespace kiln::compiler
