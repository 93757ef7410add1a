#include "generator/tools/measured_pair.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <span>
#include <stdexcept>

#include "generator/tools/arguments.h"

namespace kiln::generator {
namespace {

using compiler::Array;

constexpr rlim_t most_processor_time = 20;  // seconds of a child
constexpr unsigned most_time = 30;          // seconds of a child
constexpr double slow = 3;                  // times the first form
constexpr double sample = 5e-4;             // seconds of the calls that one time is taken from
constexpr int least_rounds = 5;
constexpr double margin = 0.02;  // seconds that a call may take in any case
constexpr std::int64_t typical_extent = 1024;

double seconds_of_thread() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

// Ends the process after this time.
void end_after(double seconds) {
  const auto whole = static_cast<time_t>(seconds);
  const itimerval t{{0, 0}, {whole, static_cast<suseconds_t>(1e6 * (seconds - static_cast<double>(whole)))}};
  setitimer(ITIMER_REAL, &t, nullptr);
}

struct Freed {
  void operator()(void* p) const { std::free(p); }
};

// Makes all NaNs alike, because any NaN equals any other. infinity: its bits without the sign.
template <class Bits>
void unite_nans(std::span<char> bytes, Bits infinity) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (8 * sizeof(Bits) - 1));
  for (std::size_t i = 0; i + sizeof(Bits) <= bytes.size(); i += sizeof(Bits)) {
    Bits b;
    std::memcpy(&b, &bytes[i], sizeof b);
    if (static_cast<Bits>(b & ~sign) <= infinity) continue;
    b = static_cast<Bits>(infinity | 1);
    std::memcpy(&bytes[i], &b, sizeof b);
  }
}

void unite_nans(compiler::DType d, std::span<char> bytes) {
  using compiler::DType;
  if (d == DType::f16) unite_nans<std::uint16_t>(bytes, 0x7c00);
  if (d == DType::bf16) unite_nans<std::uint16_t>(bytes, 0x7f80);
  if (d == DType::f32) unite_nans<std::uint32_t>(bytes, 0x7f800000);
  if (d == DType::f64) unite_nans<std::uint64_t>(bytes, 0x7ff0000000000000);
}

class Arguments {
 public:
  Arguments(const kiln_program_desc& d, SymbolValues symbols) {
    for (std::int32_t i = 0; i < d.n_symbols; ++i) {
      const kiln_symbol_desc& s = d.symbols[i];
      const std::int64_t n = std::clamp(typical_extent, s.min, s.max);
      symbols.try_emplace(s.name, s.multiple_of > 1 ? std::max(s.multiple_of, n / s.multiple_of * s.multiple_of) : n);
    }
    for (std::int32_t i = 0; i < d.n_params; ++i) {
      const kiln_param_desc& p = d.params[i];
      std::vector<std::int64_t> extents;
      for (int a = 0; a < p.rank; ++a) {
        const auto v = evaluate(d, p.extents[a], symbols);
        if (!v) throw std::runtime_error(std::string(p.name) + ": an extent is not known");
        extents.push_back(*v);
      }
      start_.push_back(p.direction == KILN_OUT ? zero_array(dtype_of(p), extents, p.name)
                                               : random_array(dtype_of(p), extents, static_cast<std::uint64_t>(i) + 1));
      is_written_.push_back(p.direction != KILN_IN);
    }
    for (Array& a : start_) {
      data_.emplace_back(static_cast<std::byte*>(std::aligned_alloc(64, (a.data.size() / 64 + 1) * 64)));
      kiln_tensor t{};
      t.data = data_.back().get();
      t.extents = a.extents.data();
      t.dtype = static_cast<std::int32_t>(a.dtype);
      t.rank = static_cast<std::int32_t>(a.extents.size());
      tensors_.push_back(t);
    }
    reset(false);
  }

  void reset(bool written_only = true) {
    for (std::size_t i = 0; i < start_.size(); ++i)
      if ((is_written_[i] || !written_only) && !start_[i].data.empty())
        std::memcpy(data_[i].get(), start_[i].data.data(), start_[i].data.size());
  }

  void call(const LoadedProgram& program) {
    std::int64_t bytes = 0;
    kiln_context context{};
    if (program.workspace(tensors_, bytes).code == KILN_OK && bytes > workspace_bytes_) {
      workspace_.reset(static_cast<std::byte*>(std::aligned_alloc(64, (static_cast<std::size_t>(bytes) / 64 + 1) * 64)));
      workspace_bytes_ = bytes;
    }
    context.workspace = workspace_.get();
    context.workspace_bytes = workspace_bytes_;
    if (const kiln_status s = program.call(tensors_, context); s.code != KILN_OK) throw std::runtime_error(program.message(s));
  }

  std::string results() const {
    std::string out;
    for (std::size_t i = 0; i < start_.size(); ++i) {
      if (!is_written_[i]) continue;
      const std::size_t before = out.size();
      out.append(reinterpret_cast<const char*>(data_[i].get()), start_[i].data.size());
      unite_nans(start_[i].dtype, std::span(out).subspan(before));
    }
    return out;
  }

 private:
  std::vector<Array> start_;
  std::vector<bool> is_written_;
  std::vector<std::unique_ptr<std::byte, Freed>> data_;
  std::vector<kiln_tensor> tensors_;
  std::unique_ptr<std::byte, Freed> workspace_;
  std::int64_t workspace_bytes_ = 0;
};

double time_of(Arguments& arguments, const LoadedProgram& program, int calls) {
  arguments.reset();
  const double start = seconds_of_thread();
  for (int i = 0; i < calls; ++i) arguments.call(program);
  return (seconds_of_thread() - start) / calls;
}

MeasuredPair measure(const LoadedProgram& first, const LoadedProgram& second, Arguments& arguments, double seconds) {
  MeasuredPair m;
  m.first = time_of(arguments, first, 1);
  const std::string expected = arguments.results();
  end_after(slow * m.first + margin);
  m.second = time_of(arguments, second, 1);
  end_after(most_time);
  m.end = arguments.results() == expected ? MeasuredPair::End::measured : MeasuredPair::End::other_bits;
  if (m.end == MeasuredPair::End::other_bits) return m;
  const int calls = static_cast<int>(std::clamp(sample / std::max(1e-9, m.first), 1.0, 1e6));
  double spent = 0;
  for (int round = 0; round < least_rounds || spent < seconds; ++round) {
    const double a = time_of(arguments, first, calls), b = time_of(arguments, second, calls);
    m.first = round == 0 ? a : std::min(m.first, a);
    m.second = round == 0 ? b : std::min(m.second, b);
    spent += (a + b) * calls;
    if (m.second > slow * m.first) return m.end = MeasuredPair::End::slow, m;
  }
  return m;
}

// What the child writes: the end, both times, and the message.
struct Report {
  MeasuredPair::End end;
  double first, second;
};

[[noreturn]] void run_child(int to, const std::string& first, const std::function<std::string()>& second,
                            const SymbolValues& symbols, double seconds) {
  const rlimit none{0, 0}, time{most_processor_time, most_processor_time};
  setrlimit(RLIMIT_CORE, &none);
  setrlimit(RLIMIT_CPU, &time);
  alarm(most_time);
  MeasuredPair m;
  try {
    m.end = MeasuredPair::End::not_run;
    const LoadedProgram a(first, "", "");
    Arguments arguments(a.desc(), symbols);
    arguments.call(a);
    m.end = MeasuredPair::End::failed;
    const LoadedProgram b(second(), "", "");
    m = measure(a, b, arguments, seconds);
  } catch (const std::exception& e) {
    m.message = e.what();
  }
  const Report r{m.end, m.first, m.second};
  std::string bytes(reinterpret_cast<const char*>(&r), sizeof r);
  bytes += m.message.substr(0, 2000);  // one write to a pipe is whole up to 4096 bytes
  _exit(write(to, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) ? 0 : 1);
}

}  // namespace

MeasuredPair measure_pair(const std::string& first, const std::function<std::string()>& second, const SymbolValues& symbols,
                          double seconds) {
  int ends[2];
  if (pipe(ends) != 0) throw std::runtime_error("no pipe");
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no child process");
  if (child == 0) run_child(ends[1], first, second, symbols, seconds);
  close(ends[1]);
  std::string bytes(4096, '\0');
  const ssize_t n = read(ends[0], bytes.data(), bytes.size());
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  MeasuredPair m;
  if (n >= static_cast<ssize_t>(sizeof(Report))) {
    Report r{};
    std::memcpy(&r, bytes.data(), sizeof r);
    return {r.end, r.first, r.second, bytes.substr(sizeof r, static_cast<std::size_t>(n) - sizeof r)};
  }
  const int signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (signal == SIGALRM || signal == SIGXCPU || signal == SIGKILL) m.end = MeasuredPair::End::slow;
  m.message = "the child ended with signal " + std::to_string(signal);
  return m;
}

}  // namespace kiln::generator
