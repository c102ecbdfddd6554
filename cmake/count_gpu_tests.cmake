# Says how many GPU tests EXECUTABLE holds; nothing of them is run.

execute_process(COMMAND ${EXECUTABLE} --gtest_list_tests OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [^\n]+" tests "${listing}")
list(LENGTH tests count)
message(NOTICE "rnnopt: ${count} GPU tests compiled, not run (cmake --workflow --preset gpu runs them)")
