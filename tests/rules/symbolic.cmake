kiln_add_test(symbolic_rules rules SOURCES rules/symbolic_rules_test.cpp LIBS kiln_symbolic)
kiln_add_test(symbolic_random rules SOURCES rules/symbolic_random_test.cpp LIBS kiln_symbolic)
kiln_add_test(infix rules SOURCES rules/infix_test.cpp LIBS kiln_symbolic)
kiln_add_test(simplify_lines rules SOURCES rules/simplify_lines_test.cpp LIBS kiln_tools)
