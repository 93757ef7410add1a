#include "compiler/schedule/pieces.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "compiler/ir/symbols.h"
#include "compiler/schedule/dependencies.h"
#include "compiler/schedule/task_order.h"

namespace kiln::compiler {
namespace {

// The kernels of each piece, in order.
std::vector<std::vector<Kernel>> by_piece(Schedule& s) {
  std::vector<std::vector<Kernel>> out(s.pieces.size());
  for (Kernel& k : s.kernels) out[static_cast<std::size_t>(k.piece)].push_back(std::move(k));
  return out;
}

// The expressions that contain the symbols of a piece: its graph, and the buffers of its kernels.
std::vector<Id> expressions_of(const Schedule& piece) {
  std::vector<Id> out{piece.program.sink};
  for (const Kernel& k : piece.kernels) {
    out.push_back(k.sink);
    for (const int b : k.buffers) {
      const Buffer& buffer = piece.buffers[static_cast<std::size_t>(b)];
      out.insert(out.end(), {buffer.size, buffer.window, buffer.kept});
    }
  }
  std::erase(out, no_id);
  return out;
}

// Every piece has the symbols of all strides: kernel_split is the first pass that uses them.
bool is_stride(const Symbol& s) { return s.kind == Symbol::Kind::stride; }
std::vector<Symbol> strides_in(const std::vector<Symbol>& symbols) {
  std::vector<Symbol> out;
  std::ranges::copy_if(symbols, std::back_inserter(out), is_stride);
  return out;
}

// A parameter that the piece does not write keeps the direction `in`, even if the piece does not use it.
void set_directions(Schedule& piece, const Piece& p) {
  for (const int w : p.writes) {
    const bool reads = std::ranges::binary_search(p.reads, w);
    piece.program.params[static_cast<std::size_t>(w)].direction = reads ? Direction::inout : Direction::out;
  }
}
void forget_directions(Schedule& piece, const Piece& p) {
  for (const int w : p.writes) piece.program.params[static_cast<std::size_t>(w)].direction = Direction::in;
}

// Kernels of one loop, in earlier pieces, that use a buffer.
struct Earlier {
  std::vector<std::size_t> readers, writers;
};

class Joining {
 public:
  Joining(const Graph& g, Schedule& s) : g_(g), s_(s) {}

  void run() {
    for (std::size_t k = 0; k < s_.kernels.size(); ++k) access_.push_back(access_of(g_, s_.kernels[k]));
    for (std::size_t begin = 0, end = 0; begin < s_.kernels.size(); begin = end) {
      while (end < s_.kernels.size() && s_.kernels[end].piece == s_.kernels[begin].piece) ++end;
      for (std::size_t k = begin; k < end; ++k) settle(k, begin);
      // A writer of this piece depends on all earlier users of the buffer, so later kernels depend on the writer only.
      for (std::size_t k = begin; k < end; ++k)
        for (const int b : access_[k].stores) earlier_.erase({s_.kernels[k].loop, b});
      for (std::size_t k = begin; k < end; ++k) remember(k);
    }
    drop_empty_loops();
    free_states();
    s_.pieces.clear();
  }

 private:
  void settle(std::size_t k, std::size_t first_of_piece) {
    Kernel& kernel = s_.kernels[k];
    kernel.loop = s_.pieces[static_cast<std::size_t>(kernel.piece)].loop;
    kernel.name = s_.program.name + "_k" + std::to_string(k);
    std::set<int> after;
    for (const int d : kernel.depends_on) after.insert(d + static_cast<int>(first_of_piece));
    const auto add = [&](int buffer, bool readers) {
      const auto it = earlier_.find({kernel.loop, buffer});
      if (it == earlier_.end()) return;
      for (const std::size_t w : it->second.writers) after.insert(static_cast<int>(w));
      for (const std::size_t r : it->second.readers)
        if (readers) after.insert(static_cast<int>(r));
    };
    for (const int b : reads(k)) add(b, false);
    for (const int b : access_[k].stores) add(b, true);
    kernel.depends_on.assign(after.begin(), after.end());
    kernel.piece = 0;
  }

  std::vector<int> reads(std::size_t k) const {
    std::vector<int> out = numbers_in(g_, s_, std::span(&s_.kernels[k].sink, 1));
    out.insert(out.end(), access_[k].loads.begin(), access_[k].loads.end());
    return out;
  }

  void remember(std::size_t k) {
    const int loop = s_.kernels[k].loop;
    for (const int b : reads(k)) earlier_[{loop, b}].readers.push_back(k);
    for (const int b : access_[k].stores) earlier_[{loop, b}].writers.push_back(k);
  }

  void drop_empty_loops() {
    std::vector<bool> used(s_.loops.size(), false);
    for (const Kernel& k : s_.kernels)
      for (int l = k.loop; l >= 0; l = s_.loops[static_cast<std::size_t>(l)].parent) used[static_cast<std::size_t>(l)] = true;
    std::vector<int> number(s_.loops.size(), -1);
    std::vector<HostLoop> kept;
    for (std::size_t l = 0; l < s_.loops.size(); ++l) {
      if (!used[l]) continue;
      number[l] = static_cast<int>(kept.size());
      kept.push_back(s_.loops[l]);
      if (kept.back().parent >= 0) kept.back().parent = number[static_cast<std::size_t>(kept.back().parent)];
    }
    for (Kernel& k : s_.kernels)
      if (k.loop >= 0) k.loop = number[static_cast<std::size_t>(k.loop)];
    s_.loops = std::move(kept);
  }

  void free_states() {
    std::vector<Parameter>& params = s_.program.params;
    for (std::size_t i = 0; i < params.size(); ++i)
      if (params[i].direction == Direction::state) s_.buffers[i].param = -1;
    std::erase_if(params, [](const Parameter& p) { return p.direction == Direction::state; });
  }

  const Graph& g_;
  Schedule& s_;
  std::vector<KernelAccess> access_;
  std::map<std::pair<int, int>, Earlier> earlier_;  // by loop and buffer
};

}  // namespace

void in_pieces(Graph& g, Schedule& s, const PieceWork& pass) {
  if (s.pieces.empty()) return pass(g, s);
  const SymbolIndex symbols(s.program.symbols);
  const std::vector<Symbol> strides = strides_in(s.program.symbols);
  std::vector<std::vector<Kernel>> kernels = by_piece(s);
  s.kernels.clear();
  Schedule piece;  // reused: copying all parameters for each piece would be slow
  piece.program = s.program;
  for (Parameter& p : piece.program.params) p.direction = Direction::in;
  for (std::size_t i = 0; i < s.pieces.size(); ++i) {
    piece.program.sink = s.pieces[i].sink;
    piece.buffers = std::move(s.buffers);
    piece.kernels = std::move(kernels[i]);
    piece.program.symbols = symbols.in(g, expressions_of(piece));
    std::erase_if(piece.program.symbols, is_stride);
    piece.program.symbols.insert(piece.program.symbols.end(), strides.begin(), strides.end());
    set_directions(piece, s.pieces[i]);
    pass(g, piece);
    forget_directions(piece, s.pieces[i]);
    s.buffers = std::move(piece.buffers);
    s.pieces[i].sink = s.buffers.empty() ? piece.program.sink : no_id;
    for (Kernel& k : piece.kernels) {
      k.piece = static_cast<int>(i);
      s.kernels.push_back(std::move(k));
    }
  }
}

void join_pieces(Graph& g, Schedule& s) {
  if (!s.pieces.empty()) Joining(g, s).run();
}

}  // namespace kiln::compiler
