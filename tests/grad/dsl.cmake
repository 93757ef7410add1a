# Derivatives of programs of the DSL. dual: their meaning by dual numbers, which shares nothing with the compiler.
add_library(dual STATIC grad/dual.cpp grad/trace.cpp unit/dsl_eval.cpp)
target_link_libraries(dual PUBLIC kiln_options kiln_dsl)
kiln_add_test(dual_test grad SOURCES grad/dual_test.cpp LIBS dual)
