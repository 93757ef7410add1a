find_library(KILN_MPFR mpfr REQUIRED)
find_library(KILN_GMP gmp REQUIRED)
find_package(Threads REQUIRED)
add_library(math_accuracy_lib STATIC unit/math_accuracy.cpp)
target_link_libraries(math_accuracy_lib PUBLIC kiln_options kiln_interp ${KILN_MPFR} ${KILN_GMP} Threads::Threads)
kiln_add_test(math_test unit SOURCES unit/math_test.cpp LIBS math_accuracy_lib)
# The long run, math_accuracy --count=10000000, prints the table of docs/reference/accuracy.md.
add_executable(math_accuracy unit/math_accuracy_main.cpp)
target_link_libraries(math_accuracy PRIVATE math_accuracy_lib)
