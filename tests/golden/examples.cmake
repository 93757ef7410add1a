find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET demo_kernels_generator)
  add_test(NAME golden.demo_loop_divisions
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/loop_divisions_test.py $<TARGET_FILE:demo_kernels_generator>)
  set_tests_properties(golden.demo_loop_divisions PROPERTIES LABELS golden)
endif()
