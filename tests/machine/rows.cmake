# The tests of machines: a row each. CMakeLists.txt tells what the columns mean.
set(relayed 1000000)
set(many 1000)
set(filter 1)
if(DPVM_SANITIZE)
  set(relayed 100000)
  set(many 200)
endif()
if(DPVM_SANITIZE OR DPVM_FUZZ) # sanitizers need system calls of their own
  set(filter 0)
endif()
set(bin "DPVM_BIN=$<TARGET_FILE_DIR:pvm>")

# ---- messages ----

machine_test(messages/text LABELS memory)
machine_test(messages/typed LABELS memory)
machine_test(messages/inplace LABELS memory)
machine_test(messages/receive LABELS memory)
machine_test(messages/queue LABELS memory)
machine_test(messages/types HOSTS 1 3 LABELS memory)
machine_test(messages/order HOSTS 1 3 LABELS memory)
machine_test(messages/mcast HOSTS 1 LABELS memory)
machine_test(messages/mcast HOSTS 3)
machine_test(messages/context HOSTS 1 LABELS memory)
machine_test(messages/context HOSTS 3)
machine_test(messages/big HOSTS 1 LABELS memory)
machine_test(messages/big HOSTS 2)
machine_test(messages/exchange HOSTS 1 LABELS memory)
machine_test(messages/exchange HOSTS 2)
machine_test(messages/handler HOSTS 1 2)
machine_test(messages/rewrite)

# ---- links: which way messages go, and what else a task does meanwhile ----

machine_test(links/routes HOSTS 1 3)
machine_test(links/leaving)
machine_test(links/route CASES mix all busy last notify HOSTS 1 LABELS memory)
machine_test(links/route CASES few refuse fork HOSTS 1)
machine_test(links/route CASES mix all busy few last notify refuse fork HOSTS 2)
machine_test(links/route AS two-links CASES mix all HOSTS 1 2 SET PVM_LINKS_MAX=2)
machine_test(links/threads CASES own blocked everything SET PVM_THREADS=1 LABELS threads memory)
machine_test(links/threads CASES traffic handlers leave enrol fork interrupted groups SET PVM_THREADS=1 LABELS threads)
machine_test(links/threads CASES same ARGS 6 2 15 SET PVM_THREADS=1 LABELS threads)
machine_test(links/threads AS hundred CASES traffic ARGS 100 3 10 SET PVM_THREADS=1 LABELS threads)
machine_test(links/threads CASES shared LABELS threads)
machine_test(links/jump CASES receive match handler group frozen send threads)
if(NOT DPVM_FUZZ)
  machine_test(links/throw)
endif()

# ---- tasks: how they start and end, what their daemon does for them ----

machine_test(tasks/identity LABELS memory)
machine_test(tasks/start NO_DAEMON LABELS memory)
machine_test(tasks/forked LABELS memory)
machine_test(tasks/tasker LABELS memory)
machine_test(tasks/manager LABELS memory)
machine_test(tasks/manager HOSTS 3)
machine_test(tasks/hoster SET PVM_START_TIMEOUT=2)
machine_test(tasks/machine HOSTS 1 3 LABELS memory)
machine_test(tasks/output HOSTS 1 3 LABELS memory)
machine_test(tasks/streams CASES apart children together input why HOSTS 1 3 LABELS memory)
machine_test(tasks/usage HOSTS 1 LABELS memory)
machine_test(tasks/usage HOSTS 3)
machine_test(tasks/notify HOSTS 1 LABELS memory)
machine_test(tasks/notify HOSTS 3)
machine_test(tasks/mailbox HOSTS 1 LABELS memory)
machine_test(tasks/mailbox HOSTS 3)
machine_test(tasks/spawn HOSTS 1 LABELS memory)
machine_test(tasks/spawn HOSTS 3)
machine_test(tasks/signals HOSTS 1 LABELS memory)
machine_test(tasks/signals HOSTS 3)
machine_test(tasks/crash HOSTS 1 2)
set(under PVM_DEBUGGER=${CMAKE_CURRENT_SOURCE_DIR}/tasks/under)
machine_test(tasks/orphans CASES killed alone halted terminated deleted restarted swept freed founded
             SET ${under} KILLS ALONE)
machine_test(tasks/orphans CASES masterless SET ${under} PVM_FAILOVER=no KILLS ALONE) # else it waits for its master
machine_test(tasks/orphans CASES launching SET ${under} PVM_RSH=${CMAKE_CURRENT_SOURCE_DIR}/limits/never KILLS ALONE)
machine_test(tasks/orphans CASES launched SET PVM_FAULT=host.launch.done=delay:1s/2 KILLS ALONE)
# By hand: orphans storm 200 SEED
machine_test(tasks/orphans CASES storm ARGS 10 1 SET ${under} KILLS ALONE)
# Under other programs: a wrapper of the user's, and gdb. Valgrind does not run what is built with sanitizers, and these
# see no leaks under gdb.
set(wrapped ${bin} "DPVM_WRAPPED=$<TARGET_FILE:machine_tasks_wrapped>")
if(DPVM_SANITIZE)
  machine_test(tasks/wrap.sh ENVIRONMENT ${wrapped})
else()
  machine_test(tasks/wrap.sh ENVIRONMENT ${wrapped} DPVM_WRAP_VALGRIND=1)
  machine_test(tasks/debug.sh ENVIRONMENT ${wrapped})
endif()

# ---- hosts: how they come and go, what is between them ----

machine_test(hosts/marks)
machine_test(hosts/rejoin SET PVM_FAULT=link.read=error/20% LIMIT 60)
machine_test(hosts/everyone ARGS 300 0 5)
machine_test(hosts/hostfail CASES killed stopped busy SET PVM_HOST_TIMEOUT=1 ALONE)
machine_test(hosts/hostfail CASES deleting adding SET PVM_HOST_TIMEOUT=15 ALONE)
machine_test(hosts/masters ARGS 10 1 SET PVM_HOST_TIMEOUT=3 LIMIT 100 KILLS ALONE LABELS long)
machine_test(hosts/masters AS often ARGS 200 2 SET PVM_HOST_TIMEOUT=3 LIMIT 600 KILLS ALONE LABELS slow)
machine_test(hosts/pending CASES asked carried joining becoming deleting SET PVM_HOST_TIMEOUT=3 KILLS ALONE)
foreach(ms 10 30 50 70 90 110)
  machine_test(hosts/pending AS ${ms}-ms CASES adding ARGS ${ms} SET PVM_HOST_TIMEOUT=3 KILLS ALONE)
endforeach()
machine_test(hosts/comeback CASES at-once soon adding twice late SET PVM_HOST_TIMEOUT=5 KILLS)
machine_test(hosts/comeback CASES half SET PVM_HOST_TIMEOUT=5 PVM_FAILOVER=half KILLS)
machine_test(hosts/failover CASES killed third stopped two both slaves half halt steady SET PVM_HOST_TIMEOUT=3 KILLS ALONE)
machine_test(hosts/lifecycle ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:machine_tasks_identity>)
machine_test(hosts/doorman ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> ${filter})
machine_test(hosts/failpoints ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> $<TARGET_FILE:pvm-info>
             $<TARGET_FILE:machine_groups_membership> $<TARGET_FILE:machine_tasks_mailbox>)
# In namespaces: with sshd, over raw frames, with bad cables
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS hosts/network)
file(STRINGS hosts/network cases REGEX "^case_[a-z_]+\\(\\)")
list(TRANSFORM cases REPLACE "^case_([a-z_]+).*" "\\1")
foreach(case ${cases})
  machine_test(hosts/network BARE AS ${case} ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm>
               $<TARGET_FILE:machine_hosts_everyone> $<TARGET_FILE:machine_hosts_secret> $<TARGET_FILE:impostor_middle>
               $<TARGET_FILE:machine_hosts_halfopen> ${case})
endforeach()
foreach(kind cable in out reset stop)
  machine_test(hosts/outages BARE AS ${kind} ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm>
               $<TARGET_FILE:machine_hosts_pulse> ${kind} 3 2 3)
endforeach()
machine_test(hosts/journal BARE ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm>)
machine_test(hosts/metrics BARE ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> $<TARGET_FILE:example-hello> ${CMAKE_SOURCE_DIR})
machine_test(hosts/duties BARE ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> ${CMAKE_BINARY_DIR}/bin/examples)
set(gexamples /usr/share/doc/pvm-examples/gexamples.tar.gz)
if(DPVM_SANITIZE OR DPVM_FUZZ)
  set(gexamples) # the system's compiler would make a program without the sanitizers that our library needs
endif()
if(DPVM_DP)
  machine_test(hosts/dp-hosts BARE ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> $<TARGET_FILE:example-pde> ${gexamples})
  set(cables ARGS $<TARGET_FILE:pvmd3> $<TARGET_FILE:pvm> $<TARGET_FILE:machine_messages_order> $<TARGET_FILE:cable>)
  foreach(percent 1 5 20)
    machine_test(hosts/dp-cables BARE AS loss-${percent} ${cables} loss ${percent})
  endforeach()
  foreach(case down other removed gone)
    machine_test(hosts/dp-cables BARE AS ${case} ${cables} ${case})
  endforeach()
endif()
if(NOT DPVM_SANITIZE) # it compiles as users do, with nothing but the installed flags
  machine_test(hosts/mpi-users ARGS ${CMAKE_SOURCE_DIR}/doc/mpi-users.md $<TARGET_FILE:pvm> ${DPVM_BUILD_ROOT})
endif()

# ---- limits: memory, time, and tasks that break the protocol ----

machine_test(limits/hostile HOSTS 1 2 ARGS $<TARGET_FILE:pvm>)
foreach(bytes 1 65536 1000000)
  machine_test(limits/overrun AS ${bytes} HOSTS 1 2 ARGS @ ${bytes})
endforeach()
machine_test(limits/overrun CASES asks tells)
machine_test(limits/worst SET PVMDLOGMAX=64M PVM_START_TIMEOUT=2 PVM_RSH=${CMAKE_CURRENT_SOURCE_DIR}/limits/never)
machine_test(limits/tight NO_DAEMON)
foreach(how many one)
  machine_test(limits/pressure AS ${how} HOSTS 1 2 ARGS @ ${how} ALONE)
endforeach()
machine_test(limits/pressure AS linked HOSTS 2 ARGS @ linked ALONE) # shm lends all without a copy
machine_test(limits/relay HOSTS 1 2 ARGS @ ${relayed} LIMIT 240 ALONE)
machine_test(limits/idle HOSTS 1 2 ALONE)
machine_test(limits/flooded HOSTS 1 2 SET PVM_INBOX_WARN=8M)
machine_test(limits/flooded OVER daemon SET PVM_INBOX_WARN=8M)
machine_test(limits/strangers HOSTS 1 2)
machine_test(limits/soak ARGS -t 10)
machine_test(limits/many ARGS ${many} LIMIT 200 ALONE)
if(NOT DPVM_SANITIZE) # what is small enough for sanitizers goes the same ways in `big`
  machine_test(limits/huge LIMIT 400 ALONE LABELS long) # needs 16 GiB of free memory, says so without
endif()

# ---- groups, console, pvm-perf ----

machine_test(groups/death HOSTS 1 3 LABELS long)
machine_test(groups/killed AS member HOSTS 1 3 ARGS 40 1 member LIMIT 240)
machine_test(groups/killed AS both HOSTS 1 3 ARGS 40 2 both LIMIT 240)
machine_test(groups/killed AS host HOSTS 3 ARGS 20 3 host KILLS LIMIT 240)
machine_test(groups/restart CASES calls storm HOSTS 1 3 ARGS 60 1 LIMIT 240)
machine_test(groups/full)
machine_test(groups/restart CASES busy HOSTS 1 3 ARGS 12 1)
foreach(program barrier bcast gather leaver many membership mismatch order reduce state)
  machine_test(groups/${program} HOSTS 1 3)
endforeach()
machine_test(groups/board CASES calls gifts SET PVM_SPIN=0)
machine_test(groups/counted CASES alone refused lag lag-server many stream)
machine_test(groups/handover CASES mixed order rubbish)
machine_test(groups/handover AS asleep CASES mixed SET PVM_SPIN=0)
machine_test(groups/handover AS spread CASES mixed OVER tcp)
machine_test(groups/board CASES messages death guest counts server jump closed)
machine_test(groups/board CASES distant OVER daemon tcp)
machine_test(groups/replaced OVER tcp HOSTS 1 3)
machine_test(groups/server HOSTS 1 3 ARGS @ $<TARGET_FILE:pvm_gstat>)
set(names "DPVM_NAMES=$<TARGET_FILE:machine_console_names>")
machine_test(console/reference.sh LIMIT 300 ENVIRONMENT ${bin} LABELS long)
foreach(script completion escapes formats hostfile jobs killed life mpirun run script terminal top tree)
  machine_test(console/${script}.sh LIMIT 300 ENVIRONMENT ${bin} ${names})
endforeach()
# Each case seeds a fault.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS console/doctor.sh)
file(STRINGS console/doctor.sh cases REGEX "^case_[a-z_]+\\(\\)")
list(TRANSFORM cases REPLACE "^case_([a-z_]+).*" "\\1")
machine_test(console/doctor.sh CASES ${cases} ENVIRONMENT ${bin})
machine_test(perf/perf AS pairs HOSTS 1 2 ARGS $<TARGET_FILE:pvm-perf> pairs LIMIT 200)
machine_test(perf/perf AS crowd HOSTS 1 2 ARGS $<TARGET_FILE:pvm-perf> crowd LIMIT 200)
machine_test(perf/perf AS ends HOSTS 1 ARGS $<TARGET_FILE:pvm-perf> ends LIMIT 200)
machine_test(perf/alltoall ARGS -c -r 100)

# ---- again over the other transports: results are the same whatever carries them ----

transports_for(others tasks)
transports_for(broken broken)
foreach(program typed inplace receive types order mcast handler queue big exchange)
  machine_test(messages/${program} OVER ${others} LABELS routes)
endforeach()
machine_test(tasks/notify OVER ${others} LABELS routes)
machine_test(tasks/crash OVER ${others} LABELS routes SET PVM_HOST_TIMEOUT=300) # killed tasks are told of before that
machine_test(links/route CASES mix all busy few last notify refuse fork OVER ${others} LABELS routes)
machine_test(links/jump CASES receive handler send OVER ${others} LABELS routes)
machine_test(links/threads CASES traffic everything blocked SET PVM_THREADS=1 OVER ${others} LABELS routes threads)
foreach(program messages/order messages/mcast messages/big messages/exchange tasks/crash)
  machine_test(${program} HOSTS 2 OVER daemon LABELS routes) # auto is tcp here
endforeach()
machine_test(links/route CASES away OVER dp LABELS routes)
machine_test(messages/order HOSTS 3 OVER dp LABELS routes)
set(cable ${transport.dp.PLACE} -c) # dp over the loopback above, and here over the cable
machine_test(messages/order AS cable OVER dp PLACE ${cable} LABELS routes)
machine_test(tasks/crash AS cable OVER dp PLACE ${cable} LABELS routes SET PVM_HOST_TIMEOUT=300)

# ---- links that break on purpose, and tasks that are killed: each seed fails at other frames ----

foreach(program messages/inplace messages/receive messages/types messages/order messages/mcast messages/queue messages/big
        messages/exchange tasks/notify tasks/crash)
  machine_test(${program} AS faults OVER ${broken} SET PVM_FAULT=seed=11,cut=0.2%,drop=0.2%,delay=1ms LABELS faults)
endforeach()
foreach(program messages/order messages/mcast messages/big messages/exchange tasks/notify tasks/crash)
  machine_test(${program} AS often HOSTS 1 2 SET PVM_FAULT=seed=13,cut=3%,drop=3%,refuse=5%,nojoin=20% LABELS faults)
endforeach()
machine_test(links/route AS faults-1 CASES mix all last fork OVER ${broken}
             SET PVM_FAULT=seed=1,cut=1%,drop=0.5%,refuse=2%,delay=200us LABELS faults)
foreach(seed 2 3)
  machine_test(links/route AS faults-${seed} CASES mix all last fork OVER ${broken}
               SET PVM_FAULT=seed=${seed},cut=1%,drop=0.5%,refuse=2%,delay=200us LABELS faults slow)
endforeach()
machine_test(chaos/chaos OVER daemon ARGS -n 100 -a LIMIT 240 LABELS chaos)
machine_test(chaos/chaos OVER ${broken} ARGS -n 100 LIMIT 240 LABELS chaos)
