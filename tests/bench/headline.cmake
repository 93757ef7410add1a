# The headline benchmark as a test: a few small workloads by Kiln and by plain C++. ./dev bench builds it with all workloads.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(NOT KILN_BENCH AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  add_subdirectory(bench/headline)
  add_test(NAME bench.headline COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench/headline/headline.py
    --bin ${CMAKE_CURRENT_BINARY_DIR}/bench/headline/bin --quick)
  set_tests_properties(bench.headline PROPERTIES LABELS bench)

  # The inner loops of some headline programs keep their values in registers.
  set(group spills)
  configure_file(bench/headline/programs/kernels.cpp.in ${CMAKE_CURRENT_BINARY_DIR}/bench/headline_spills.cpp @ONLY)
  add_executable(headline_spills_generator ${CMAKE_CURRENT_BINARY_DIR}/bench/headline_spills.cpp)
  target_include_directories(headline_spills_generator PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(headline_spills_generator PRIVATE kiln::dsl kiln::dsl_diagnostics kiln::generator_main)
  target_compile_options(headline_spills_generator PRIVATE -O0)
  add_test(NAME bench.spills COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/bench/headline/spills.py
    $<TARGET_FILE:headline_spills_generator> ${CMAKE_CURRENT_BINARY_DIR}/bench/spills)
  set_tests_properties(bench.spills PROPERTIES LABELS bench)
endif()
