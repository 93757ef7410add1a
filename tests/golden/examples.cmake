find_package(Python3 REQUIRED COMPONENTS Interpreter)
if(TARGET demo_kernels_generator)
  add_test(NAME golden.demo_loop_divisions
    COMMAND Python3::Interpreter ${CMAKE_CURRENT_LIST_DIR}/loop_divisions_test.py $<TARGET_FILE:demo_kernels_generator>)
  set_tests_properties(golden.demo_loop_divisions PROPERTIES LABELS golden)
endif()

# The examples, compared with numbers from independent programs.
foreach(name wave poisson nbody mandelbrot buddhabrot sph fluid sort fft)
  if(TARGET ${name}_kernels)
    kiln_add_test(example_${name}_test golden SOURCES ${CMAKE_CURRENT_LIST_DIR}/examples/${name}_test.cpp
      LIBS ${name}_kernels kiln::threads)
  endif()
endforeach()

# It fails unless the fit is near the points.
if(TARGET fit)
  add_test(NAME golden.example_fit COMMAND fit)
  set_tests_properties(golden.example_fit PROPERTIES LABELS golden)
endif()

# The demo's programs on images with a pitch must give the same bits as on dense images.
if(TARGET demo_kernels_generator)
  set(demo_graphs ${CMAKE_CURRENT_BINARY_DIR}/demo_graphs)
  add_test(NAME golden.demo_graphs COMMAND $<TARGET_FILE:demo_kernels_generator> -o ${demo_graphs} --emit ir)
  set_tests_properties(golden.demo_graphs PROPERTIES LABELS golden FIXTURES_SETUP demo_graphs)
  add_test(NAME golden.demo_strided COMMAND programs_test ${demo_graphs} --strided 8)
  set_tests_properties(golden.demo_strided PROPERTIES LABELS golden FIXTURES_REQUIRED demo_graphs)
endif()
