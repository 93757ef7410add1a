add_library(captured_makers STATIC fuzz/random_scopes.cpp fuzz/shared_arrays.cpp fuzz/typed_memory.cpp fuzz/random_states.cpp)
target_link_libraries(captured_makers PUBLIC kiln_generator random_makers)
add_library(captured_campaign STATIC fuzz/captured_campaign.cpp)
target_link_libraries(captured_campaign PUBLIC captured_makers campaign)

# Random programs with scopes, compared with the same programs in plain C. The long run: random_scopes --count 20000 --jobs 2.
add_executable(random_scopes fuzz/random_scopes_main.cpp fuzz/scopes_as_c.cpp fuzz/c_prelude.cpp fuzz/c_library.cpp)
target_link_libraries(random_scopes PRIVATE captured_campaign ${CMAKE_DL_LIBS})
add_test(NAME fuzz.random_scopes COMMAND random_scopes --count 30 --jobs 2)
add_test(NAME fuzz.random_scopes_stages COMMAND random_scopes --stages --count 50 --seed 100000 --jobs 2)
# Seed 200027: a vector of indices whose load is the last instruction before an atomic operation.
add_test(NAME fuzz.random_scopes_disabled COMMAND random_scopes --disable --count 30 --seed 200000 --jobs 2)
# A load of an empty tensor in front of the loop over its extent had lost its gate. A finding is shrunk for minutes.
add_test(NAME fuzz.load_before_an_empty_loop COMMAND random_scopes --count 1 --seed 92000365)
set_tests_properties(fuzz.load_before_an_empty_loop PROPERTIES TIMEOUT 120)
set_tests_properties(fuzz.random_scopes fuzz.random_scopes_stages fuzz.random_scopes_disabled fuzz.load_before_an_empty_loop
  PROPERTIES LABELS fuzz)

# Random programs of tensors that kernels update, compared with the interpreter. The long run: random_states
# --count 20000 --jobs 2.
add_executable(random_states fuzz/random_states_main.cpp)
target_link_libraries(random_states PRIVATE captured_campaign)
add_test(NAME fuzz.random_states COMMAND random_states --count 60 --jobs 2)
add_test(NAME fuzz.random_states_stages COMMAND random_states --stages --count 150 --seed 100000 --jobs 2)
set_tests_properties(fuzz.random_states fuzz.random_states_stages PROPERTIES LABELS fuzz)

# Random kernels, to test the proof that no two work items race. The long runs: random_races --count 100000, random_races
# --regular --count 20000.
add_executable(random_races
  fuzz/random_races_main.cpp fuzz/random_races.cpp fuzz/regular_kernels.cpp fuzz/work_item_walk.cpp)
target_link_libraries(random_races PRIVATE random_makers kiln_generator kiln_races command_line)
add_test(NAME fuzz.random_races COMMAND random_races --count 250)
add_test(NAME fuzz.regular_races COMMAND random_races --regular --count 250)
set_tests_properties(fuzz.random_races fuzz.regular_races PROPERTIES LABELS fuzz)

# Texts of every pass's result with mistakes in them. The long run: text_mutations --count 1000000 --jobs 2.
add_executable(text_mutations fuzz/text_mutations_main.cpp fuzz/text_mutation.cpp)
target_link_libraries(text_mutations PRIVATE captured_makers campaign)
file(GLOB mutated CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/golden/*/*.kiln ${CMAKE_CURRENT_SOURCE_DIR}/golden/passes/*/*.kiln ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/regressions/*.kiln)
add_test(NAME fuzz.text_mutations COMMAND text_mutations --count 10000 --jobs 2 ${mutated})
file(GLOB found CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/fuzz/texts/*.kiln)
add_test(NAME fuzz.texts COMMAND text_mutations --as-is ${found})
set_tests_properties(fuzz.text_mutations fuzz.texts PROPERTIES LABELS fuzz)
