find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit.docs COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/docs_test.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
set_tests_properties(unit.docs PROPERTIES LABELS unit)
add_test(NAME unit.correspondence COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/correspondence_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.correspondence PROPERTIES LABELS unit)
add_test(NAME unit.layering COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/layering_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.layering PROPERTIES LABELS unit)
add_test(NAME unit.features COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/features_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.features PROPERTIES LABELS unit)

# Needs clang-query (Debian: clang-tools-19). To read all sources takes minutes, so each change reads those of one folder.
find_program(KILN_CLANG_QUERY clang-query-19)
find_package(LLVM QUIET CONFIG)  # the LLVM that compiler/codegen found
if(KILN_CLANG_QUERY AND LLVM_FOUND)
  set(order ${Python3_EXECUTABLE} ${CMAKE_CURRENT_SOURCE_DIR}/unit/evaluation_order_test.py ${PROJECT_SOURCE_DIR} ${KILN_CLANG_QUERY}
      ${LLVM_INCLUDE_DIRS})
  add_test(NAME unit.evaluation_order_self COMMAND ${order} self)
  add_test(NAME unit.evaluation_order_rangeify COMMAND ${order} compiler/rangeify)
  set_tests_properties(unit.evaluation_order_self unit.evaluation_order_rangeify PROPERTIES LABELS unit)
  kiln_add_long_test(evaluation_order_values
    ${order} compiler/ir compiler/index compiler/autodiff compiler/symbolic compiler/interp compiler/proof)
  kiln_add_long_test(evaluation_order_graphs
    ${order} compiler/races compiler/schedule compiler/pipeline compiler/target)
  kiln_add_long_test(evaluation_order_loops ${order} compiler/lower)
  kiln_add_long_test(evaluation_order_code ${order} compiler/codegen)
  kiln_add_long_test(evaluation_order_generator ${order} generator)
  kiln_add_long_test(evaluation_order_fuzz ${order} tests/fuzz)
else()
  message(STATUS "no clang-query-19: the order of evaluation in the compiler's sources is not checked")
endif()
