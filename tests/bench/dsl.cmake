# What capture costs the C++ compiler: the test counts its work, `capture_cost` measures its time. Not with sanitizers:
# times would be meaningless, and their library cannot be loaded into the generator alone.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  return()
endif()
find_program(KILN_GXX NAMES g++-12 g++)
find_program(KILN_CLANGXX NAMES clang++-19)
set(compilers ${KILN_GXX})
if(KILN_CLANGXX)
  list(APPEND compilers ${KILN_CLANGXX})
endif()
list(JOIN compilers "$<SEMICOLON>" compilers)
set(capture_time "-DCOMPILERS=${compilers}" "-DINCLUDES=-I${PROJECT_SOURCE_DIR}/dsl/include$<SEMICOLON>-I${PROJECT_SOURCE_DIR}/abi/include"
    -DGENERATOR=${CMAKE_CURRENT_BINARY_DIR}/../consumer/prefix/lib/libkiln_generator.so -DWORK=${CMAKE_CURRENT_BINARY_DIR}/capture_time)
add_test(NAME bench.capture_time
  COMMAND ${CMAKE_COMMAND} ${capture_time} -DCHECK=ON -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/capture_time.cmake)
# after consumer.prefix, which installs the generator that this test measures
add_custom_target(capture_cost
  COMMAND ${CMAKE_COMMAND} ${capture_time} -DTABLE=${PROJECT_SOURCE_DIR}/docs/reference/capture-cost.md
          -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/capture_time.cmake USES_TERMINAL VERBATIM)
set_tests_properties(bench.capture_time PROPERTIES LABELS bench TIMEOUT 600)

# Programs with control flow, compared with C++ and with published figures. `speed` runs them all.
add_library(speed_lines STATIC bench/speed.cpp)
target_link_libraries(speed_lines PUBLIC kiln_generator run_harness)
add_executable(control_bench bench/control.cpp bench/control_loop.cpp ${PROJECT_SOURCE_DIR}/examples/nbody/kernels.cpp)
add_executable(workgroups_bench bench/workgroups.cpp bench/workgroups_loop.cpp ${PROJECT_SOURCE_DIR}/examples/fft/workgroups.cpp)
add_executable(sort_bench bench/sort.cpp ${PROJECT_SOURCE_DIR}/examples/sort/kernels.cpp)
add_executable(fluid_bench bench/fluid.cpp ${PROJECT_SOURCE_DIR}/examples/fluid/kernels.cpp)
set_source_files_properties(bench/control_loop.cpp bench/workgroups_loop.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-fno-math-errno")
set_source_files_properties(bench/sort.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native")
set(sample_of_sort_bench --sample)
foreach(part control_bench workgroups_bench sort_bench fluid_bench)
  target_link_libraries(${part} PRIVATE speed_lines)
  add_test(NAME bench.${part} COMMAND ${part} ${sample_of_${part}})  # the results are tested; the times are for people
  set_tests_properties(bench.${part} PROPERTIES LABELS bench)
endforeach()
add_custom_target(speed COMMAND control_bench COMMAND workgroups_bench COMMAND sort_bench COMMAND fluid_bench USES_TERMINAL)
add_executable(components_bench bench/components.cpp bench/components_loops.cpp)
target_link_libraries(components_bench PRIVATE kiln_generator run_harness)
set_source_files_properties(bench/components_loops.cpp PROPERTIES COMPILE_OPTIONS "-O3;-march=native;-fno-math-errno")

# Derivatives beside their forward passes. Not built by default: `ninja backward_bench`.
add_executable(backward_bench EXCLUDE_FROM_ALL bench/backward.cpp)
target_link_libraries(backward_bench PRIVATE speed_lines)
find_path(KILN_TORCH_HEADERS torch/csrc/api/include/torch/torch.h)
find_library(KILN_TORCH_LIBRARY torch_cpu)
if(KILN_TORCH_HEADERS AND KILN_TORCH_LIBRARY)  # libtorch-dev
  add_library(backward_torch STATIC EXCLUDE_FROM_ALL bench/backward_torch.cpp)
  target_include_directories(backward_torch PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(backward_torch SYSTEM PRIVATE ${KILN_TORCH_HEADERS}/torch/csrc/api/include)
  target_compile_options(backward_torch PRIVATE -w)
  target_link_libraries(backward_torch PRIVATE ${KILN_TORCH_LIBRARY} c10)
  target_compile_definitions(backward_bench PRIVATE KILN_WITH_TORCH)
  target_link_libraries(backward_bench PRIVATE backward_torch)
endif()

# The compiler's plans of loops, compared with random ones. The sample tests that all plans give the same bits; the times are
# for people.
add_executable(plan_bench bench/plan.cpp bench/plan_kernels.cpp fuzz/random_plan.cpp)
target_link_libraries(plan_bench PRIVATE speed_lines command_line)
add_test(NAME bench.plan COMMAND plan_bench --plans 3 --seconds 0.01)
set_tests_properties(bench.plan PROPERTIES LABELS bench)

# The cost of the runtime for kernels in host loops.
add_executable(dispatch_bench bench/dispatch.cpp)
target_link_libraries(dispatch_bench PRIVATE kiln_options kiln_generator run_harness)
add_test(NAME bench.dispatch COMMAND dispatch_bench)
set_tests_properties(bench.dispatch PROPERTIES LABELS bench RUN_SERIAL ON)
