# Derivatives of programs of the DSL. record_duals: their meaning by dual numbers, which shares nothing with the compiler.
add_library(record_duals STATIC grad/record_duals.cpp grad/record_trace.cpp unit/dsl_eval.cpp)
target_link_libraries(record_duals PUBLIC kiln_options kiln_dsl)
kiln_add_test(record_duals_test grad SOURCES grad/record_duals_test.cpp LIBS record_duals)
