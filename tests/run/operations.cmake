# The table of DSL operations (docs/operations.md). One translation unit per family of programs: header, family, export, dtypes.
set(families
  elementwise:arithmetic:LINES:NUMBERS elementwise:integers:LINES:INTEGERS elementwise:bitwise:LINES:bool,INTEGERS
  elementwise:logic:LINES:bool elementwise:ordering:LINES:ALL elementwise:casts:LINES:ALL elementwise:bitcasts:LINES:NUMBERS
  elementwise:functions:LINES:FLOATS
  movement:shapes:EMPTY:ALL movement:slices:EMPTY:ALL movement:pads:SHAPES:ALL movement:joins:EMPTY:ALL
  movement:positions:EMPTY:NUMBERS movement:constants:EMPTY:ALL movement:grids:SHAPES:kiln::i32
  reduction:sums:EMPTY:NUMBERS reduction:extremes:SHAPES:ALL reduction:quantifiers:EMPTY:bool reduction:means:SHAPES:FLOATS
  reduction:contractions:EMPTY:NUMBERS reduction:convolutions:SHAPES:NUMBERS reduction:maxpools:SHAPES:NUMBERS
  reduction:averagepools:SHAPES:FLOATS reduction:normalized:EMPTY:FLOATS)
set(sources)
foreach(entry IN LISTS families)
  string(REPLACE ":" ";" entry "${entry}")
  string(REPLACE "kiln;;" "kiln::" entry "${entry}")
  list(GET entry 0 header)
  list(GET entry 1 family)
  list(GET entry 2 export)
  list(GET entry 3 dtypes)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/operations/${family}.cpp)
  file(CONFIGURE OUTPUT ${source}
    CONTENT "#include \"tests/run/operations/${header}_programs.h\"\n\nEXPORT_${export}(${family}, ${dtypes})\n")
  list(APPEND sources ${source})
endforeach()
set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS -O0)

add_executable(operations_test ${sources} run/operations/accepted.cpp run/operations/operations_test.cpp
  run/operations/expectation.cpp run/operations/elementwise_reference.cpp run/operations/movement_reference.cpp
  run/operations/reduction_reference.cpp run/operations/contraction_reference.cpp
  run/operations/normalized_reference.cpp run/values.cpp run/reference.cpp run/tensor_reference.cpp)
target_link_libraries(operations_test PRIVATE run_harness kiln::generator kiln::dsl GTest::gtest GTest::gtest_main)
set_target_properties(operations_test PROPERTIES ENABLE_EXPORTS ON)

# The page is compared with what these tests saw; they run before it.
set(results)
foreach(shard RANGE 3)
  set(result ${CMAKE_CURRENT_BINARY_DIR}/operations/results_${shard})
  list(APPEND results ${result})
  add_test(NAME run.operations_${shard} COMMAND operations_test)
  set_tests_properties(run.operations_${shard} PROPERTIES LABELS run FIXTURES_SETUP operations
    ENVIRONMENT "GTEST_TOTAL_SHARDS=4;GTEST_SHARD_INDEX=${shard};KILN_OPERATIONS_TABLE=${result}")
endforeach()
foreach(test ops_elementwise_test ops_tensor_test)
  set(result ${CMAKE_CURRENT_BINARY_DIR}/operations/${test})
  list(APPEND results ${result})
  set_tests_properties(run.${test} PROPERTIES FIXTURES_SETUP operations ENVIRONMENT "KILN_OPERATIONS_TABLE=${result}")
endforeach()
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME run.operations_page COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/run/operations/operations_page.py
  ${PROJECT_SOURCE_DIR}/dsl/include/kiln/dsl ${PROJECT_SOURCE_DIR}/docs/operations.md ${results})
set_tests_properties(run.operations_page PROPERTIES LABELS run FIXTURES_REQUIRED operations)
