find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit.docs COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/docs_test.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
set_tests_properties(unit.docs PROPERTIES LABELS unit)
add_test(NAME unit.correspondence COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/correspondence_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.correspondence PROPERTIES LABELS unit)
add_test(NAME unit.features COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/features_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(unit.features PROPERTIES LABELS unit)

# Needs clang-query (Debian: clang-tools-19). Runs in parts, so that no test takes long.
find_program(KILN_CLANG_QUERY clang-query-19)
find_package(LLVM QUIET CONFIG)  # the LLVM that compiler/codegen found
if(KILN_CLANG_QUERY AND LLVM_FOUND)
  function(kiln_evaluation_order part)
    add_test(NAME unit.evaluation_order_${part}
      COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/evaluation_order_test.py ${PROJECT_SOURCE_DIR} ${KILN_CLANG_QUERY}
              ${LLVM_INCLUDE_DIRS} ${ARGN})
    set_tests_properties(unit.evaluation_order_${part} PROPERTIES LABELS unit PROCESSORS 2)
  endfunction()
  kiln_evaluation_order(self self)
  kiln_evaluation_order(values compiler/ir compiler/symbolic compiler/interp compiler/proof)
  kiln_evaluation_order(graphs compiler/rangeify compiler/races compiler/schedule compiler/pipeline)
  kiln_evaluation_order(loops compiler/lower)
  kiln_evaluation_order(code compiler/codegen)
  kiln_evaluation_order(generator generator)
  kiln_evaluation_order(fuzz tests/fuzz)
else()
  message(STATUS "no clang-query-19: the order of evaluation in the compiler's sources is not checked")
endif()
