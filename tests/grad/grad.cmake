kiln_add_test(grad_test grad
  SOURCES grad/table_test.cpp grad/expression_text.cpp grad/rules_test.cpp grad/windows_test.cpp
  LIBS kiln_passes kiln_interp dual)
target_compile_definitions(grad_test PRIVATE KILN_DOCS="${PROJECT_SOURCE_DIR}/docs")
