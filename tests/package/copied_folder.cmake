# Copies the include folder into BINARY_DIR, compiles SOURCE against the copy and, if RUN, runs it.

file(REMOVE_RECURSE ${BINARY_DIR})
file(COPY ${INCLUDE_DIR} DESTINATION ${BINARY_DIR})
execute_process(
  COMMAND ${COMPILER} -I${BINARY_DIR}/include ${SOURCE} -o ${BINARY_DIR}/program ${OPTIONS}
  COMMAND_ERROR_IS_FATAL ANY)
if(RUN)
  execute_process(COMMAND ${BINARY_DIR}/program COMMAND_ERROR_IS_FATAL ANY)
endif()
