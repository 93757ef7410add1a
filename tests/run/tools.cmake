kiln_add_test(tools_run run SOURCES run/tools_test.cpp LIBS kiln_calls)
target_compile_definitions(tools_run PRIVATE
  KILN_OPT="$<TARGET_FILE:kiln-opt>" KILN_RUN="$<TARGET_FILE:kiln-run>" KILN_TUNE="$<TARGET_FILE:kiln-tune>" KILN_RUNTIME="$<TARGET_FILE:kiln_runtime>")
add_dependencies(tools_run kiln-opt kiln-run kiln-tune kiln_runtime)
