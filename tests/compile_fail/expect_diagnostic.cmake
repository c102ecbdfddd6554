# Compiles SOURCE with COMMAND and compares its diagnostics with the first line of SOURCE.

file(READ ${SOURCE} text)
if(NOT text MATCHES "^// expect: (ok|rnnopt: [^\n]+)\n")
  message(FATAL_ERROR "the first line has to be '// expect: ok' or '// expect: rnnopt: <text>'")
endif()
set(expected "${CMAKE_MATCH_1}")

execute_process(COMMAND ${COMMAND} ${SOURCE} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)

if(expected STREQUAL "ok")
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "expected to compile, but:\n${output}")
  endif()
  return()
endif()

if(result EQUAL 0)
  message(FATAL_ERROR "compiled, but expected the error\n${expected}")
endif()

# A line of text is not a list: brackets and semicolons would make it one.
string(REGEX REPLACE "[][;]" " " lines "${output}")
string(REGEX REPLACE "[][;]" " " expected "${expected}")
string(REGEX MATCHALL "[^\n]*error( #[0-9]+-D)?: [^\n]*" errors "${lines}")

set(hits 0)
foreach(error IN LISTS errors)
  string(FIND "${error}" "${expected}" position)
  if(NOT position EQUAL -1)
    math(EXPR hits "${hits} + 1")
  endif()
endforeach()

list(POP_FRONT errors first_error)
string(FIND "${first_error}" "${expected}" position)
if(position EQUAL -1)
  message(FATAL_ERROR "expected in the first error:\n${expected}\nthe first error:\n${first_error}\nall output:\n${output}")
elseif(hits GREATER 1)
  message(FATAL_ERROR "expected once, but given ${hits} times:\n${expected}\nall output:\n${output}")
endif()
