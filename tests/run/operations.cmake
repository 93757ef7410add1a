# The table of DSL operations (docs/reference/operations.md). Arguments for a family of programs: header, name, dtypes, whether one
# program has empty extents. A family has two translation units, because the compile time of g++ grows more than linearly
# with the programs in one.
set(families
  elementwise:arithmetic:NUMBERS: elementwise:integers:INTEGERS: elementwise:bitwise:bool,INTEGERS: elementwise:logic:bool:
  elementwise:ordering:ALL: elementwise:casts:ALL: elementwise:bitcasts:NUMBERS: elementwise:functions:FLOATS:
  elementwise:inverses:FLOATS:
  movement:shapes:ALL:empty movement:slices:ALL:empty movement:pads:ALL: movement:joins:ALL:empty
  movement:positions:NUMBERS:empty movement:constants:ALL:empty movement:grids:INDEX:
  reduction:sums:NUMBERS:empty reduction:extremes:ALL: reduction:quantifiers:bool:empty reduction:means:FLOATS:
  reduction:contractions:NUMBERS:empty reduction:convolutions:NUMBERS: reduction:maxpools:NUMBERS: reduction:averagepools:FLOATS:
  reduction:normalized:FLOATS:empty)
# One unit has symbolic extents for every dtype (the test also replaces the symbols by numbers), the other static
# extents for one dtype.
set(elementwise_fixed "line<0>" "line<1>" "line<1201>")
set(movement_fixed "fixed<7, 5, 13>" "fixed<1, 6, 9>")
set(reduction_fixed ${movement_fixed})
set(sources)
foreach(entry IN LISTS families)
  string(REPLACE ":" ";" entry "${entry}")
  list(GET entry 0 header)
  list(GET entry 1 family)
  list(GET entry 2 dtypes)
  list(GET entry 3 empty)
  set(fixed ${${header}_fixed})
  if(empty)
    list(APPEND fixed "fixed<0, 5, 0>")
  endif()
  set(one kiln::f32)
  if(dtypes MATCHES "INTEGERS|INDEX")
    set(one kiln::i32)
  elseif(dtypes STREQUAL bool)
    set(one bool)
  endif()
  set(source ${CMAKE_CURRENT_BINARY_DIR}/operations/${family}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
    "#include \"tests/run/operations/${header}_programs.h\"\n\nstatic const each_dtype<${family}, symbolic, ${dtypes}> exported;\n")
  list(APPEND sources ${source})
  list(TRANSFORM fixed REPLACE "(.+)" "${family}<${one}, \\1>")
  list(JOIN fixed ", " programs)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/operations/${family}_fixed.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT
    "#include \"tests/run/operations/${header}_programs.h\"\n\nstatic const kiln::programs<${programs}> exported;\n")
  list(APPEND sources ${source})
endforeach()
set_source_files_properties(${sources} run/operations/accepted.cpp PROPERTIES COMPILE_OPTIONS -O0)

add_executable(operations_test ${sources} run/operations/accepted.cpp run/operations/operations_test.cpp
  run/operations/expectation.cpp run/operations/elementwise_reference.cpp run/operations/movement_reference.cpp
  run/operations/reduction_reference.cpp run/operations/contraction_reference.cpp
  run/operations/normalized_reference.cpp)
target_link_libraries(operations_test PRIVATE references kiln::generator kiln::dsl GTest::gtest GTest::gtest_main)

# The page is compared with the results of these tests, so they run before it.
set(results)
foreach(shard RANGE 3)
  set(result ${CMAKE_CURRENT_BINARY_DIR}/operations/results_${shard})
  list(APPEND results ${result})
  add_test(NAME run.operations_${shard} COMMAND operations_test)
  set_tests_properties(run.operations_${shard} PROPERTIES LABELS run FIXTURES_SETUP operations
    ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard};KILN_OPERATIONS_TABLE=${result}")
endforeach()
kiln_add_test(ops_elementwise_test run OPTIMISED SOURCES run/ops_elementwise_test.cpp LIBS references)
kiln_add_test(ops_tensor_test run OPTIMISED SOURCES run/ops_tensor_test.cpp LIBS references)
foreach(test ops_elementwise_test ops_tensor_test)
  set(result ${CMAKE_CURRENT_BINARY_DIR}/operations/${test})
  list(APPEND results ${result})
  set_tests_properties(run.${test} PROPERTIES FIXTURES_SETUP operations ENVIRONMENT "KILN_OPERATIONS_TABLE=${result}")
endforeach()
kiln_add_long_test(ops_tensor_test ${CMAKE_COMMAND} -E env KILN_ALL_CASES=1 $<TARGET_FILE:ops_tensor_test>)
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME run.operations_page COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/run/operations/operations_page.py
  ${PROJECT_SOURCE_DIR}/dsl/include/kiln/dsl ${PROJECT_SOURCE_DIR}/docs/reference/operations.md ${results})
set_tests_properties(run.operations_page PROPERTIES LABELS run FIXTURES_REQUIRED operations)
