find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME unit.docs COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/unit/docs_test.py ${PROJECT_SOURCE_DIR} ${CMAKE_CXX_COMPILER})
set_tests_properties(unit.docs PROPERTIES LABELS unit)
