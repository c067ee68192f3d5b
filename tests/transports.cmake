# The transports under test. A new transport is one line here.
#
#   transport(NAME TRY suite... [PLACE command...] [PROGRAM target] [ENVIRONMENT name=value...])
#
# TRY          conform  the promises of transport.h (tests/conform)
#              faults   the same while PVM_FAULT delays and cuts its links; for transports that connect by offer
#              memory   the same under Valgrind
#              tasks    the programs of tests/machine, tests/trace and examples that depend on the transport
#              broken   tasks whose links break and whose peers are killed repeatedly (tests/machine)
#              compat   its share of the sections and examples that run beside the reference PVM (tests/compat)
# PLACE        the command that creates the network it needs, and runs another command there
# PROGRAM      the program that tests/conform runs, if it is not `conform`
# ENVIRONMENT  for tests/conform
#
# Suites also run with PVM_TRANSPORT=auto, which uses shm on one host and tcp between hosts: shm is not in `tasks` and
# `compat`.
set(transports)
function(transport name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM" "TRY;PLACE;ENVIRONMENT")
  if(NOT arg_PROGRAM)
    set(arg_PROGRAM conform)
  endif()
  list(APPEND transports ${name})
  set(transports ${transports} PARENT_SCOPE)
  foreach(column TRY PLACE PROGRAM ENVIRONMENT)
    set(transport.${name}.${column} ${arg_${column}} PARENT_SCOPE)
  endforeach()
endfunction()

set(silence_s 2) # only silence reveals a peer's death
if(DPVM_SANITIZE) # a slow peer must not count as dead
  set(silence_s 3)
endif()

transport(unix TRY conform)
transport(loop TRY conform faults)
transport(daemon TRY tasks compat)
transport(shm TRY conform faults memory broken)
transport(tcp TRY conform faults memory tasks broken compat)
if(DPVM_DP)
  transport(dp TRY conform faults tasks compat PLACE ${CMAKE_SOURCE_DIR}/tests/lab/with-veth
            ENVIRONMENT PVM_HOST_TIMEOUT=${silence_s})
endif()
if(DPVM_ATM)
  transport(atm TRY conform faults compat PLACE ${CMAKE_SOURCE_DIR}/atm/tests/with-network $<TARGET_FILE:atm-sim>)
endif()
if(DPVM_HAVE_VERBS) # with a fake device; tests/rdma has real ones in a virtual machine
  transport(rdma TRY conform faults memory PROGRAM conform-verbs ENVIRONMENT PVM_RDMA_TIMEOUT=3)
endif()
if(DPVM_HAVE_FABRIC) # over libfabric's tcp; tests/conform has shm and udp, too
  transport(ofi TRY conform faults tasks broken PLACE ${CMAKE_SOURCE_DIR}/tests/lab/with-veth
            ENVIRONMENT PVM_HOST_TIMEOUT=${silence_s} PVM_OFI_PROVIDER=tcp)
endif()

# transports_for(OUT suite): the names of those with the suite in TRY.
function(transports_for out suite)
  set(found)
  foreach(name ${transports})
    if(suite IN_LIST transport.${name}.TRY)
      list(APPEND found ${name})
    endif()
  endforeach()
  set(${out} ${found} PARENT_SCOPE)
endfunction()
