# Programs in f64, without any part of Kiln, that print the tables which tests of tests/golden/examples read. Each test runs one
# program and compares what it prints with the table. After a change of a program: PROGRAM > tests/reference/NAME.inc
foreach(name wave poisson nbody sph fluid)
  add_executable(reference_${name} ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  target_link_libraries(reference_${name} PRIVATE kiln_options)
  target_compile_options(reference_${name} PRIVATE -O2)
  add_test(NAME reference.${name} COMMAND sh -c "\"$1\" | diff -u \"$2\" -" sh $<TARGET_FILE:reference_${name}>
    ${CMAKE_CURRENT_LIST_DIR}/${name}.inc)
  set_tests_properties(reference.${name} PROPERTIES LABELS reference)
endforeach()
