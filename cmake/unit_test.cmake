# Adds one executable and one ctest for each noun: test_<noun>.c. Other folders may call this function too, with their
# own sources and, if no library contains the code under test, the sources under test.
function(dpvm_unit_test name)
  add_executable(${name} ${ARGN})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
  target_link_libraries(${name} PRIVATE dpvm_transports dpvm_core PkgConfig::CHECK)
  add_test(NAME unit_${name} COMMAND ${name})
  set_tests_properties(unit_${name} PROPERTIES LABELS unit TIMEOUT 300)
endfunction()
