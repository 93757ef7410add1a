# The long run: random_grads --count 100000.
add_library(dual STATIC grad/dual.cpp grad/dual_sums.cpp)
target_link_libraries(dual PUBLIC kiln_interp)
add_executable(random_grads
  fuzz/random_grads.cpp fuzz/random_gradient.cpp fuzz/check_tangent.cpp fuzz/random_tangent.cpp)
target_link_libraries(random_grads PRIVATE campaign dual)
add_test(NAME fuzz.random_grads COMMAND random_grads --count 1000 --compiled 100)
set_tests_properties(fuzz.random_grads PROPERTIES LABELS fuzz)
