kiln_add_test(grad_test grad
  SOURCES grad/table_test.cpp grad/expression_text.cpp grad/rules_test.cpp grad/second_order_test.cpp grad/windows_test.cpp
  LIBS kiln_passes kiln_interp dual)
target_compile_definitions(grad_test PRIVATE KILN_DOCS="${PROJECT_SOURCE_DIR}/docs")
# The long run: mutants.py ROOT BUILD, which compiles each wrong rule.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME grad.mutants COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/mutants.py ${PROJECT_SOURCE_DIR} --check)
set_tests_properties(grad.mutants PROPERTIES LABELS grad)
