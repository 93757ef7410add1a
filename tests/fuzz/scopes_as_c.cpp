#include "tests/fuzz/scopes_as_c.h"

#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace kiln::test {
namespace {

using dsl::record::atomic_kind;
using dsl::record::index_mode;
using dsl::record::op;

const char* type_name(kiln_dtype d) {
  switch (d) {
    case KILN_BOOL: return "i8";  // 0 or 1
    case KILN_I8: return "i8";
    case KILN_I16: return "i16";
    case KILN_I32: return "i32";
    case KILN_I64: return "i64";
    case KILN_U8: return "u8";
    case KILN_U16: return "u16";
    case KILN_U32: return "u32";
    case KILN_U64: return "u64";
    case KILN_F32: return "f32";
    default: throw std::logic_error("a type without a rule");
  }
}

const char* function_of(op o) {
  switch (o) {
    case op::add: return "add";
    case op::sub: return "sub";
    case op::mul: return "mul";
    case op::min: return "min";
    case op::max: return "max";
    case op::and_: return "and";
    case op::or_: return "or";
    case op::xor_: return "xor";
    case op::fdiv: return "fdiv";
    case op::cdiv: return "cdiv";
    case op::cmod: return "cmod";
    case op::shl: return "shl";
    case op::shr: return "shr";
    case op::lt: return "lt";
    case op::le: return "le";
    case op::eq: return "eq";
    case op::ne: return "ne";
    default: throw std::logic_error("an operation without a rule");
  }
}

class Writer {
 public:
  Writer(const dsl::record::program& p, const std::string& name) : p_(p) {
    out_ << "void " << name << "(int64_t N, void** params) {\n";
    for (int i = 0; i < p.n_params; ++i) parameter(i);
    for (int i = 0; i < p.n_nodes; ++i) statement(i);
    out_ << "}\n";
  }
  std::string text() const { return out_.str(); }

 private:
  const dsl::record::node& node(int i) const { return p_.nodes[i]; }
  int source_number(int i, int k) const { return p_.sources[node(i).source_begin + k]; }
  std::string source(int i, int k) const { return value(source_number(i, k)); }
  std::string value(int i) const { return "v" + std::to_string(i) + (of_item_.contains(i) ? "[q]" : ""); }
  static std::string extent(const dsl::record::extent& e) {
    return e.text == nullptr ? "INT64_C(" + std::to_string(e.value) + ")" : "(int64_t)(" + std::string(e.text) + ")";
  }
  std::string bound(int i, int which, int& used) const {
    const dsl::record::extent& e = p_.attrs[node(i).attr_begin + which];
    return e.text == nullptr && e.value == -1 ? "(int64_t)" + source(i, used++) : extent(e);
  }

  struct Tensor {
    std::string name;
    kiln_dtype type;
    const dsl::record::shape* shape;
  };

  void parameter(int i) {
    const dsl::record::parameter& q = p_.params[i];
    const Tensor t{"t" + std::to_string(i), q.d, q.s};
    out_ << type_name(q.d) << "* " << t.name << " = params[" << i << "];\n";
    if (q.direction == 1) out_ << "memset(" << t.name << ", 0, " << elements(*q.s) << " * sizeof *" << t.name << ");\n";
    tensors_[static_cast<std::uint64_t>(i)] = t;
  }
  static std::string elements(const dsl::record::shape& s) {
    std::string n = "1";
    for (int k = 0; k < s.rank; ++k) n += " * " + extent(s.extents[k]);
    return n;
  }

  void statement(int i) {
    if (node(i).s->rank > 0 && node(i).o != op::local) return whole(i);
    if (!workgroup_scopes_.empty() && ends_interval(i)) return of_workgroup(i);
    plain(i);
  }
  void plain(int i) {
    switch (node(i).o) {
      case op::reduce: return sum(i);
      case op::kernel: return kernel(i);
      case op::loop: return loop(i);
      case op::when: return when(i);
      case op::otherwise: return otherwise(i);
      case op::kernel_end:
      case op::loop_end:
      case op::when_end: return close();
      case op::break_: return leave(i, "break");
      case op::continue_: return leave(i, "continue");
      case op::var: return declare(i);
      case op::set: out_ << variable(i) << " = " << source(i, 0) << ";\n"; return;
      case op::local: return local(i);
      case op::put: return put(i);
      case op::atomic: return atomic(i);
      default: define(i, expression(i));
    }
  }
  // Tensors of one axis: the present contents of a parameter, arithmetic with tensors and numbers, an assignment, a sum.
  std::string part(int i, int k) const { return source(i, k) + (node(source_number(i, k)).s->rank > 0 ? "[q]" : ""); }
  void whole(int i) {
    const dsl::record::node& n = node(i);
    const std::string size = elements(*n.s), type = type_name(n.d);
    const std::string to = n.o == op::store ? tensors_.at(n.imm).name : value(i);
    if (n.o != op::store) out_ << type << ' ' << to << "[" << size << " + 1];\n";
    out_ << "for (int64_t q = 0; q < " << size << "; ++q) " << to << "[q] = ";
    if (n.o == op::param)
      out_ << tensors_.at(n.imm).name << "[q];\n";
    else if (n.o == op::store)
      out_ << part(i, 0) << ";\n";
    else
      out_ << function_of(n.o) << '_' << type << '(' << part(i, 0) << ", " << part(i, 1) << ");\n";
  }
  void sum(int i) {
    const std::string type = type_name(node(i).d);
    out_ << type << ' ' << value(i) << " = 0;\nfor (int64_t q = 0; q < " << elements(*node(source_number(i, 0)).s) << "; ++q) "
         << value(i) << " = add_" << type << '(' << value(i) << ", " << part(i, 0) << ");\n";
  }
  void define(int i, const std::string& e) {
    if (of_item_.contains(i))
      out_ << value(i) << " = " << e << ";\n";
    else
      out_ << "const " << type_name(node(i).d) << ' ' << value(i) << " = " << e << ";\n";
  }
  std::string variable(int i) const {
    return "x" + std::to_string(node(i).imm) + (saved_variables_.contains(node(i).imm) ? "[q]" : "");
  }
  void declare(int i) {
    const bool is_saved = saved_variables_.contains(node(i).imm);
    out_ << (is_saved ? "" : type_name(node(i).d)) << ' ' << variable(i) << " = " << source(i, 0) << ";\n";
  }

  std::string expression(int i) {
    const dsl::record::node& n = node(i);
    const std::string cast = "(" + std::string(type_name(n.d)) + ")";
    switch (n.o) {
      case op::param: return tensors_.at(n.imm).name + "[0]";
      case op::constant: return cast + "UINT64_C(" + std::to_string(n.imm) + ")";
      case op::index: {
        const std::string axis = std::to_string(source_number(i, 0)) + "_" + std::to_string(n.imm & 0xff);
        if ((n.imm & dsl::record::of_workgroup) != 0) return cast + "g" + axis;
        return cast + ((n.imm & dsl::record::within_workgroup) != 0 ? "(p" + axis + " - f" + axis + ")" : "p" + axis);
      }
      case op::counter: return cast + "k" + std::to_string(source_number(i, 0));
      case op::cast:
        if (node(source_number(i, 0)).d == KILN_F32) return "saturated(" + source(i, 0) + ")";
        return cast + source(i, 0);
      case op::where: return source(i, 0) + " ? " + source(i, 1) + " : " + source(i, 2);
      case op::not_: return n.d == KILN_BOOL ? "!" + source(i, 0) : cast + "~" + source(i, 0);
      case op::get: return variable(i);
      case op::element: return element(i);
      default: break;
    }
    const kiln_dtype operands = node(source_number(i, 0)).d;
    return std::string(function_of(n.o)) + "_" + type_name(operands) + "(" + source(i, 0) + ", " + source(i, 1) + ")";
  }

  // Scopes.
  void kernel(int i) {
    const int rank = node(i).n_attrs;
    int used = 0;
    out_ << "{\n";
    std::string head;
    for (int k = 0; k < rank; ++k) {
      const std::string axis = std::to_string(i) + "_" + std::to_string(k), p = "p" + axis;
      out_ << "const int64_t n" << p << " = " << bound(i, k, used) << ";\n";
      if (workgroup_size(i, k) > 0) {
        const std::string size = std::to_string(workgroup_size(i, k)), first = "f" + axis;
        out_ << "for (int64_t g" << axis << " = 0; g" << axis << " * " << size << " < n" << p << "; ++g" << axis << ") {\n";
        out_ << "const int64_t " << first << " = g" << axis << " * " << size << ";\n";
        continue;
      }
      head += "for (int64_t " + p + " = 0; " + p + " < n" + p + "; ++" + p + ") ";
    }
    if (workgroup_size(i, 0) > 0) return workgroup(i);
    out_ << head << "{\n";
    open("}}");
  }

  // Workgroups: between two barriers, the work items of a workgroup run in order. A value directly in the kernel, or in a scope
  // with barriers, has an element for each work item.
  std::int64_t workgroup_size(int kernel, int axis) const {
    return static_cast<std::int64_t>(axis < 3 ? node(kernel).imm >> (8 + 16 * axis) & 0xffff : 0);
  }
  static bool is_opening(op o) { return o == op::kernel || o == op::loop || o == op::when || o == op::otherwise; }
  static bool is_closing(op o) { return o == op::kernel_end || o == op::loop_end || o == op::when_end; }
  bool ends_interval(int i) const {
    const op o = node(i).o;
    return workgroup_scopes_.contains(i) || workgroup_ends_.contains(i) || o == op::barrier ||
           ((o == op::break_ || o == op::continue_) && workgroup_scopes_.contains(scope_of_.at(i)));
  }
  void of_workgroup(int i) {
    if (in_interval_) out_ << "}\n";
    in_interval_ = false;
    if (node(i).o != op::barrier) plain(i);
    if (node(i).o == op::kernel_end)
      workgroup_scopes_.clear(), workgroup_ends_.clear(), of_item_.clear(), saved_variables_.clear();
    else
      open_interval();
  }
  void workgroup(int i) {
    std::vector<int> scopes{i};
    for (int k = i + 1; !scopes.empty(); ++k) {
      scope_of_[k] = scopes.back();
      if (is_opening(node(k).o)) scopes.push_back(k);
      if (node(k).o == op::barrier) workgroup_scopes_.insert(scopes.begin(), scopes.end());
      if (!is_closing(node(k).o)) continue;
      if (scopes.size() == 1 || workgroup_scopes_.contains(scopes.back())) workgroup_ends_.insert(k);
      scopes.pop_back();
    }
    workgroup_scopes_.insert(i);
    kernel_ = i;
    std::string size = "1", closing = "}";
    for (int k = 0; k < node(i).n_attrs; ++k) size += " * " + std::to_string(workgroup_size(i, k)), closing += "}";
    out_ << "const int64_t q = 0;\n";
    for (int k = i + 1; k < *workgroup_ends_.rbegin(); ++k)
      if (workgroup_scopes_.contains(scope_of_[k])) keep(k, size);
    open(closing);
    open_interval();
  }
  void keep(int i, const std::string& size) {
    const dsl::record::node& n = node(i);
    const std::string type = type_name(n.d), number = std::to_string(n.imm & 0xffffffffu);
    if (n.o == op::local) {
      out_ << type << " l" << number << ((n.imm & dsl::record::shared_array) == 0 ? "[" + size + "]" : "") << "["
           << elements(*n.s) << "];\n";
    } else if (n.o == op::var) {
      out_ << type << " x" << number << "[" << size << "];\n";
      saved_variables_.insert(n.imm);
    } else if (!is_opening(n.o) && !is_closing(n.o) && n.o != op::barrier && n.o != op::set && n.o != op::put) {
      out_ << type << " v" << i << "[" << size << "];\n";
      of_item_.insert(i);
    }
  }
  void open_interval() {
    std::string q = "0";
    for (int k = 0; k < node(kernel_).n_attrs; ++k) {
      const std::string axis = std::to_string(kernel_) + "_" + std::to_string(k), p = "p" + axis, first = "f" + axis;
      const std::string size = std::to_string(workgroup_size(kernel_, k));
      out_ << "for (int64_t " << p << " = " << first << "; " << p << " < n" << p << " && " << p << " < " << first << " + "
           << size << "; ++" << p << ") ";
      q = "(" + q + ") * " + size + " + " + p + " - " + first;
    }
    out_ << "{\nconst int64_t q = " << q << ";\n";
    in_interval_ = true;
  }

  void loop(int i) {
    const std::string k = std::to_string(i);
    int used = 0;
    const std::string begin = bound(i, 0, used), end = bound(i, 1, used), step = bound(i, 2, used);
    out_ << "{\nconst int64_t b" << k << " = " << begin << ", e" << k << " = " << end << ", s" << k << " = " << step << ";\n";
    out_ << "for (int64_t k" << k << " = b" << k << "; ";
    if (node(i).imm != 1) out_ << "s" << k << " > 0 ? k" << k << " < e" << k << " : s" << k << " < 0 && k" << k << " > e" << k;
    out_ << "; k" << k << " += s" << k << ") {\n";
    open("}}");
  }
  // The chain's flag: whether a branch was taken.
  std::string flag() const { return "c" + std::to_string(chain_.at(closings_.size())); }
  void when(int i) {
    chain_[closings_.size()] = i;
    out_ << "int " << flag() << " = " << source(i, 0) << ";\nif (" << flag() << ") {\n";
    open("}");
  }
  void otherwise(int i) {
    out_ << "if (!" << flag() << (node(i).n_sources > 0 ? " && " + source(i, 0) : "") << ") {\n" << flag() << " = 1;\n";
    open("}");
  }
  void leave(int i, const char* how) {
    if (node(i).n_sources > 0) out_ << "if (" << source(i, 0) << ") ";
    out_ << how << ";\n";
  }
  void open(std::string closing) { closings_.push_back(std::move(closing)); }
  void close() {
    out_ << closings_.back() << "\n";
    closings_.pop_back();
  }

  // Elements.
  void local(int i) {
    const dsl::record::node& n = node(i);
    const std::uint64_t number = n.imm & 0xffffffffu;
    const bool of_workgroup = (n.imm & dsl::record::shared_array) != 0, is_saved = workgroup_scopes_.contains(scope_of_[i]);
    const Tensor t{"l" + std::to_string(number) + (is_saved && !of_workgroup ? "[q]" : ""), n.d, n.s};
    tensors_[dsl::record::local_tensors + number] = t;
    if (is_saved) {
      out_ << (of_workgroup ? "if (q == 0) " : "") << "memset(" << t.name << ", 0, sizeof " << t.name << ");\n";
      return;
    }
    out_ << type_name(n.d) << ' ' << t.name << "[" << elements(*n.s) << "];\nmemset(" << t.name << ", 0, sizeof " << t.name
         << ");\n";
  }
  const Tensor& tensor(int i) const { return tensors_.at(node(i).imm & 0xffffffffu); }
  // The element's linear index; negative if the mode skips the element.
  std::string place(int i, int first) const {
    const Tensor& t = tensor(i);
    const std::uint64_t mode = node(i).imm >> 32 & 0xff;
    std::string at = "0";
    for (int k = 0; k < t.shape->rank; ++k) {
      const std::string n = extent(t.shape->extents[k]);
      at = "join(" + at + ", place(" + std::to_string(mode) + ", " + source(i, first + k) + ", " + n + "), " + n + ")";
    }
    return at;
  }
  std::string element(int i) const {
    const Tensor& t = tensor(i);
    const bool constant = static_cast<index_mode>(node(i).imm >> 32 & 0xff) == index_mode::constant;
    const std::string otherwise = constant ? source(i, t.shape->rank) : "0";
    return "get_" + std::string(type_name(t.type)) + "(" + t.name + ", " + place(i, 0) + ", " + otherwise + ")";
  }
  void put(int i) {
    const std::string at = "a" + std::to_string(i);
    out_ << "const int64_t " << at << " = " << place(i, 1) << ";\nif (" << at << " >= 0) " << tensor(i).name << "[" << at
         << "] = " << source(i, 0) << ";\n";
  }
  void atomic(int i) {
    static const char* const functions[] = {"add", "min", "max", "and", "or", "xor"};
    const std::size_t kind = static_cast<std::size_t>(node(i).imm >> 40);
    const bool compares = static_cast<atomic_kind>(kind) == atomic_kind::compare_exchange;
    const std::string at = "a" + std::to_string(i), type = type_name(tensor(i).type), to = tensor(i).name + "[" + at + "]";
    out_ << "const int64_t " << at << " = " << place(i, compares ? 2 : 1) << ";\n";
    define(i, "get_" + type + "(" + tensor(i).name + ", " + at + ", 0)");
    out_ << "if (" << at << " >= 0" << (compares ? " && " + value(i) + " == " + source(i, 1) : "") << ") " << to << " = ";
    if (kind < std::size(functions))
      out_ << functions[kind] << '_' << type << '(' << value(i) << ", " << source(i, 0) << ");\n";
    else
      out_ << source(i, 0) << ";\n";
  }

  const dsl::record::program& p_;
  std::ostringstream out_;
  std::map<std::uint64_t, Tensor> tensors_;
  std::vector<std::string> closings_;
  int kernel_ = 0;
  bool in_interval_ = false;
  std::set<int> workgroup_scopes_, workgroup_ends_, of_item_;  // scopes with barriers inside; their ends; values of work items
  std::map<int, int> scope_of_;
  std::set<std::uint64_t> saved_variables_;
  std::map<std::size_t, int> chain_;  // by depth: the latest `when`
};

}  // namespace

std::string scopes_as_c(const dsl::record::program& p, const std::string& name) { return Writer(p, name).text(); }

}  // namespace kiln::test
