# The headline benchmark as a test: a few small workloads by Kiln and by plain C++. ./dev bench builds it with all workloads.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KILN_BENCH AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_subdirectory(bench/headline)
  add_test(NAME bench.headline COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench/headline/headline.py
    --bin ${CMAKE_CURRENT_BINARY_DIR}/bench/headline/bin --quick)
  set_tests_properties(bench.headline PROPERTIES LABELS bench)
endif()
