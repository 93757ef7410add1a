find_package(CLI11 REQUIRED)
add_library(command_line STATIC fuzz/command_line.cpp)
target_link_libraries(command_line PUBLIC kiln_options PRIVATE CLI11::CLI11)
# The long run: index_campaign, 1,000,000 expressions (or --count 100000000).
add_executable(index_campaign fuzz/index_campaign.cpp fuzz/index_check.cpp fuzz/index_program.cpp fuzz/index_expression.cpp)
target_link_libraries(index_campaign PRIVATE kiln_options kiln_symbolic command_line Threads::Threads)
add_test(NAME fuzz.index_campaign COMMAND index_campaign --count 100000 --jobs 2)
set_tests_properties(fuzz.index_campaign PROPERTIES LABELS fuzz)
