# Builds and runs the consumer in a folder of its own:
#   cmake -DWAY=installed|subdirectory -DBUILD=<lope's build> -DSOURCE=<lope> -DFOLDER=<scratch> -P run.cmake
# ARGUMENTS holds what else the consumer's configuration is given.

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ECHO STDOUT COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE "${FOLDER}")
if(WAY STREQUAL "installed")
  run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${FOLDER}/prefix")
  list(APPEND ARGUMENTS "-DCMAKE_PREFIX_PATH=${FOLDER}/prefix")
else()
  list(APPEND ARGUMENTS "-DLOPE_SOURCE=${SOURCE}")
endif()
run("${CMAKE_COMMAND}" -G Ninja -S "${CMAKE_CURRENT_LIST_DIR}" -B "${FOLDER}/build" ${ARGUMENTS})
run("${CMAKE_COMMAND}" --build "${FOLDER}/build" --target consumer -j 2)
run("${FOLDER}/build/consumer")
