# cmake -DCOMPILERS=g++;clang++-19 -DINCLUDES=-I..;-I.. -DGENERATOR=libkiln_generator.so -DWORK=dir (-DTABLE=file.md | -DCHECK=ON) -P capture_time.cmake
# Measures the compile time of captured programs at -O0 (wall clock; minimum of three runs, or one run if it takes over a
# second): the header alone, chains, many programs, doubling. Also measures their generator, linked to the library GENERATOR.
# TABLE: the file for all times, with the project's budgets, as Markdown.
# CHECK: measures no time. It fails if capture does more work than its budget, or if the work grows more than linearly. Work
# is the evaluation steps of the C++ compiler and the number of its instantiations: the same on every machine.
file(MAKE_DIRECTORY ${WORK})

function(write_header_only path)
  file(WRITE ${path} "#include <kiln/dsl.h>\n")
endfunction()

# n operators, each in its own statement, as a user would write them. result: what the program stores.
set(operators "+ x" "* a" "- x" "/ a" "* 0.5f" "+ 1.0f")
function(write_chain path n result)
  set(body "")
  set(step 0)
  while(step LESS n)
    math(EXPR which "${step} % 6")
    list(GET operators ${which} operator)
    math(EXPR next "${step} + 1")
    string(APPEND body "    auto v${next} = v${step} ${operator};\n")
    set(step ${next})
  endwhile()
  file(WRITE ${path} "#include <kiln/dsl.h>\nusing namespace kiln;\ninline constexpr dim<\"N\"> N;\n"
    "struct chain : program<chain> {\n  in<f32, N> x;\n  in<f32> a;\n  out<f32, N> y;\n"
    "  constexpr void body() {\n    auto v0 = x + a;\n${body}    y = ${result};\n  }\n};\n"
    "static_assert(count_ops<chain>(op::store) == 1);\nstatic const programs<chain> exported;\n")
endfunction()

# n programs of 60 operators with different shapes.
function(write_programs path n)
  set(text "#include <kiln/dsl.h>\nusing namespace kiln;\ninline constexpr dim<\"N\"> N;\n")
  set(names "")
  set(p 0)
  while(p LESS n)
    math(EXPR width "${p} % 10 + 2")
    string(APPEND text "struct p${p} : program<p${p}> {\n  in<f32, N, ${width}> x;\n  in<f32, ${width}> a;\n  in<f32> s;\n"
      "  out<f32, N, ${width}> y;\n  out<f32, N> z;\n  constexpr void body() {\n    auto v0 = x + a;\n")
    set(step 0)
    while(step LESS 11)
      math(EXPR next "${step} + 1")
      string(APPEND text "    auto v${next} = max(v${step} * a + s, x) - exp(v${step}) / ${next};\n")
      set(step ${next})
    endwhile()
    string(APPEND text "    y = softmax<1>(v11);\n    z = sum<1>(v11);\n  }\n};\n")
    list(APPEND names p${p})
    math(EXPR p "${p} + 1")
  endwhile()
  string(REPLACE ";" ", " names "${names}")
  file(WRITE ${path} "${text}static const programs<${names}> exported;\n")
endfunction()

function(write_doubling path n)
  file(WRITE ${path} "#include <kiln/dsl.h>\nusing namespace kiln;\ninline constexpr dim<\"N\"> N;\n"
    "struct doubling : program<doubling> {\n  in<f32, N> x;\n  out<f32, N> y;\n  constexpr void body() {\n"
    "    auto v = x + x;\n    for (int i = 1; i < ${n}; ++i) v = v + v;\n    y = v;\n  }\n};\n"
    "static_assert(count_ops<doubling>(op::add) == ${n});\nstatic const programs<doubling> exported;\n")
endfunction()

# A kernel with n loops. Each loop has a condition, a break, reads and a write.
function(write_scopes path n)
  set(body "")
  set(step 0)
  while(step LESS n)
    string(APPEND body "      for (auto k : loop(4)) {\n        auto t = x(i + k) * v;\n"
      "        if (auto c = when(t > ${step}.0f)) v += t;\n        break_if(v > 9.0f);\n      }\n"
      "      y.at<mode::skip>(i, ${step}) = v;\n")
    math(EXPR step "${step} + 1")
  endwhile()
  file(WRITE ${path} "#include <kiln/dsl.h>\nusing namespace kiln;\ninline constexpr dim<\"N\"> N;\n"
    "struct loops : program<loops> {\n  in<f32, N> x;\n  inout<f32, N, 9> y;\n  constexpr void body() {\n"
    "    for (auto [i] : kernel(N)) {\n      auto v = var(0.0f);\n${body}    }\n  }\n};\n"
    "static_assert(count_ops<loops>(op::loop) == ${n});\nstatic const programs<loops> exported;\n")
endfunction()

# The compile time of a source in milliseconds.
function(measure out compiler source)
  if(compiler MATCHES "clang")
    set(limits -fconstexpr-steps=3500000)
  else()
    set(limits -fconstexpr-ops-limit=40000000 -fconstexpr-loop-limit=1000000)
  endif()
  set(best 1000000000)
  foreach(repeat 1 2 3)
    string(TIMESTAMP begin "%s%f")
    execute_process(COMMAND ${compiler} -std=c++20 -O0 -c ${limits} ${INCLUDES} ${source} -o ${WORK}/out.o RESULT_VARIABLE result)
    string(TIMESTAMP end "%s%f")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "${compiler} fails on ${source}")
    endif()
    math(EXPR ms "(${end} - ${begin}) / 1000")
    if(ms LESS best)
      set(best ${ms})
    endif()
    if(best GREATER 1000)
      break()  # one run is enough
    endif()
  endforeach()
  set(${out} ${best} PARENT_SCOPE)
endfunction()

# The time in milliseconds of the generator of the last measured source, by the same rule. Objects and headers
# are written again.
function(measure_generator out)
  get_filename_component(folder ${GENERATOR} DIRECTORY)
  execute_process(COMMAND g++ ${WORK}/out.o ${GENERATOR} -Wl,-rpath,${folder} -o ${WORK}/generator RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "the generator does not link")
  endif()
  set(best 1000000000)
  foreach(repeat 1 2 3)
    file(REMOVE_RECURSE ${WORK}/generated)
    file(MAKE_DIRECTORY ${WORK}/generated)
    string(TIMESTAMP begin "%s%f")
    execute_process(COMMAND ${WORK}/generator -o ${WORK}/generated RESULT_VARIABLE result)
    string(TIMESTAMP end "%s%f")
    if(NOT result EQUAL 0)
      message(FATAL_ERROR "the generator fails")
    endif()
    math(EXPR ms "(${end} - ${begin}) / 1000")
    if(ms LESS best)
      set(best ${ms})
    endif()
    if(best GREATER 1000)
      break()  # one run is enough
    endif()
  endforeach()
  set(${out} ${best} PARENT_SCOPE)
endfunction()

function(seconds out ms)
  math(EXPR whole "${ms} / 1000")
  math(EXPR part "${ms} % 1000 + 1000")
  string(SUBSTRING "${part}" 1 2 part)
  set(${out} ${whole}.${part} PARENT_SCOPE)
endfunction()

write_header_only(${WORK}/header.cpp)
foreach(n 100 300 1000 3000)
  write_chain(${WORK}/chain_${n}.cpp ${n} v${n})
endforeach()
foreach(n 1000 3000)
  write_chain(${WORK}/gradient_${n}.cpp ${n} "grad(sum(v${n}), x)")
endforeach()
foreach(n 3 9 10 30 100)
  write_programs(${WORK}/programs_${n}.cpp ${n})
endforeach()
foreach(n 10 30 100)
  write_scopes(${WORK}/loops_${n}.cpp ${n})
endforeach()
foreach(n 10 20 40)
  write_doubling(${WORK}/doubling_${n}.cpp ${n})
endforeach()

# Fails unless the longest constant evaluation of a source ends within `steps` steps, as the compiler itself counts them.
function(check_steps compiler source steps)
  if(compiler MATCHES "clang")
    set(limits -fconstexpr-steps=${steps})
  else()
    set(limits -fconstexpr-ops-limit=${steps} -fconstexpr-loop-limit=1000000)
  endif()
  execute_process(COMMAND ${compiler} -std=c++20 -fsyntax-only ${limits} ${INCLUDES} ${WORK}/${source}.cpp RESULT_VARIABLE result
    ERROR_VARIABLE text)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${source} takes more than ${steps} steps of ${compiler}:\n${text}")
  endif()
  message(STATUS "${compiler}: ${source} is within ${steps} steps")
endfunction()

# The number of evaluations and instantiations in a source, as clang reports them.
function(count_work out compiler source)
  execute_process(COMMAND ${compiler} -std=c++20 -O0 -c -fconstexpr-steps=3500000 -ftime-trace=${WORK}/trace.json ${INCLUDES}
    ${WORK}/${source}.cpp -o ${WORK}/out.o COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${WORK}/trace.json trace)
  string(REGEX MATCHALL "Total (Instantiate|Evaluate)[A-Za-z]*\",\"args\":{\"count\":[0-9]+" totals "${trace}")
  set(sum 0)
  foreach(total IN LISTS totals)
    string(REGEX MATCH "[0-9]+$" count "${total}")
    math(EXPR sum "${sum} + ${count}")
  endforeach()
  set(${out} ${sum} PARENT_SCOPE)
endfunction()

# A source of three times the size may take four times the work, not counting the work of the header.
function(check_growth compiler small large)
  count_work(one ${compiler} ${small})
  count_work(three ${compiler} ${large})
  message(STATUS "${compiler}: work of the header ${header}, of ${small} ${one}, of ${large} ${three}")
  math(EXPR most "${header} + 4 * (${one} - ${header})")
  if(NOT one GREATER header)
    message(FATAL_ERROR "the work of ${small} was not counted")
  endif()
  if(three GREATER most)
    message(FATAL_ERROR "not linear with ${compiler}: ${small} takes ${one}, ${large} takes ${three}")
  endif()
endfunction()

# A gradient adds next to nothing to its chain, so its limit is the chain's.
# Budgets: steps for one operator of a chain, for a program of 60 operators and for one loop, about a quarter above the
# steps of today (g++ 12: 2000, 144000, 68000; clang 19: 138, 9000, 4000).
if(CHECK)
  foreach(compiler IN LISTS COMPILERS)
    if(compiler MATCHES "clang")
      check_steps(${compiler} gradient_1000 175000)
      check_steps(${compiler} programs_9 12000)
      check_steps(${compiler} loops_30 155000)
      count_work(header ${compiler} header)
      check_growth(${compiler} chain_100 chain_300)
      check_growth(${compiler} programs_3 programs_9)
      check_growth(${compiler} loops_10 loops_30)
    else()
      check_steps(${compiler} gradient_1000 2550000)
      check_steps(${compiler} programs_9 180000)
      check_steps(${compiler} loops_30 2600000)
    endif()
  endforeach()
  return()
endif()

# name | source | budget in ms (0: none)
set(cases
  "the header alone|header|300"
  "chain of 100 operators|chain_100|0" "chain of 300|chain_300|0" "chain of 1000|chain_1000|0" "chain of 3000|chain_3000|3000"
  "its gradient|gradient_3000|0"
  "10 programs of 60 nodes|programs_10|0" "30 programs|programs_30|0" "100 programs|programs_100|8000"
  "kernel of 10 loops|loops_10|0" "30 loops|loops_30|0" "100 loops|loops_100|0"
  "`v = v + v` 10 times|doubling_10|0" "20 times|doubling_20|0" "40 times|doubling_40|0")

set(table "| program |")
set(rule "| --- |")
foreach(compiler IN LISTS COMPILERS)
  get_filename_component(name ${compiler} NAME)
  string(APPEND table " ${name} (s) |")
  string(APPEND rule " ---: |")
endforeach()
string(APPEND table " budget (s) | generator (s) |\n${rule} ---: | ---: |\n")
foreach(case IN LISTS cases)
  string(REPLACE "|" ";" fields "${case}")
  list(GET fields 0 title)
  list(GET fields 1 source)
  list(GET fields 2 budget)
  string(APPEND table "| ${title} |")
  foreach(compiler IN LISTS COMPILERS)
    measure(ms ${compiler} ${WORK}/${source}.cpp)
    seconds(text ${ms})
    string(APPEND table " ${text} |")
  endforeach()
  if(budget GREATER 0)
    seconds(text ${budget})
    string(APPEND table " ${text} |")
  else()
    string(APPEND table " |")
  endif()
  if(source STREQUAL "header")
    string(APPEND table " |\n")
  else()
    measure_generator(ms)
    seconds(text ${ms})
    string(APPEND table " ${text} |\n")
  endif()
endforeach()
message(STATUS "compile time:\n${table}")
if(TABLE)
  file(WRITE ${TABLE} "# What capture costs\n\n"
    "The C++ compiler captures programs: it evaluates their bodies and records the operations. The table shows its time for a `kernels.cpp` at\n"
    "-O0, including `kiln/dsl.h`, and the run time of the generator. Times are wall clock, the minimum of three runs (one run if it takes over a\n"
    "second). The budgets are the project's goals. No test fails by time: `bench.capture_time` counts the work of the compilers instead.\n"
    "`cmake --build build/dev --target capture_cost` makes this page (`tests/bench/capture_time.cmake`).\n\n${table}\n"
    "The generator's time is from start to end: import, all passes, LLVM, object, header, manifest. Its `kernels.cpp` was compiled by the last\n"
    "compiler of the table. The cost of capture is linear in the number of operators. Types of values repeat, so templates are instantiated once\n"
    "for each dtype and shape, not for each node. The C++ compiler evaluates the body of a program twice, in constant time for each node.\n")
endif()
