# Random programs with scopes against their steps. The long run: random_scopes 20000 0 --compiled.
add_executable(random_scopes fuzz/random_scopes_main.cpp fuzz/random_scopes.cpp fuzz/run_scopes.cpp)
target_link_libraries(random_scopes PRIVATE kiln_generator run_harness)
set_target_properties(random_scopes PROPERTIES ENABLE_EXPORTS ON)
add_test(NAME fuzz.random_scopes COMMAND random_scopes 3000)
add_test(NAME fuzz.random_scopes_compiled COMMAND random_scopes 60 100000 --compiled)
set_tests_properties(fuzz.random_scopes fuzz.random_scopes_compiled PROPERTIES LABELS fuzz)
