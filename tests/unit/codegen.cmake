kiln_add_test(codegen_test unit
  SOURCES unit/codegen_chain_order_test.cpp
          unit/codegen_kernel_test.cpp unit/codegen_elementwise_test.cpp unit/codegen_program_test.cpp unit/codegen_loop_scopes_test.cpp
          unit/codegen_index_test.cpp unit/codegen_variants_test.cpp run/reference.cpp
  LIBS kiln_codegen loaded_object)
target_include_directories(codegen_test PRIVATE ${PROJECT_SOURCE_DIR}/runtime/include)
kiln_add_test(run_expression_test unit SOURCES unit/run_expression_test.cpp LIBS kiln_codegen kiln_interp kiln_runtime)
