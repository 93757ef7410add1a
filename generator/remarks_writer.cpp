#include "generator/remarks_writer.h"

#include <nlohmann/json.hpp>

#include "compiler/pipeline/passes.h"

namespace kiln::generator {

void RemarkOptions::add_to(CLI::App& app) {
  app.add_option_function<std::string>(
         "--remarks",
         [this](const std::string& name) {
           wanted = true;
           pass = name;
           if (!pass.empty()) compiler::pass_named(pass);
         },
         "Print what the compiler decided and why; =PASS: only what this pass decided")
      ->expected(0, 1)
      ->type_name("PASS");
  app.add_flag("--missed", missed, "With --remarks: only what costs time");
  app.add_flag("--json", json, "With --remarks: a JSON object on each line");
}

std::string remarks_text(const compiler::Remarks& remarks, const RemarkOptions& options, const std::string& program) {
  std::string out;
  for (const compiler::Remark& r : remarks.list()) {
    if ((options.missed && !r.kind.missed) || (!options.pass.empty() && options.pass != r.pass)) continue;
    if (!options.json) {
      out += line_of(r);
      continue;
    }
    nlohmann::ordered_json line = {{"program", program}, {"where", r.where},        {"id", r.kind.id},
                                   {"pass", r.pass},     {"missed", r.kind.missed}, {"text", r.text}};
    if (!r.variants.empty()) line["variants"] = r.variants;
    out += line.dump() + '\n';
  }
  return out;
}

}  // namespace kiln::generator
