/*
 * failpoint.h - steps of daemons and of the group server at which PVM_FAULT can end the process, make the step fail, or
 * delay it: for tests. plan.h has the grammar.
 *
 * To add one, add a row, and call pvmc_failpoint() before the step and pvmc_failpoint_done() after it. pvm-info
 * --failpoints prints the table, and dpvm-transports(7) is made from it.
 */
#ifndef PVMC_FAILPOINT_H
#define PVMC_FAILPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* X(identifier, name, whether the step can fail, what the step is) */
#define PVMC_FAILPOINTS(X)                                                                                             \
    X(LINK_CONNECT, "link.connect", true, "begin a TCP connection to another daemon")                                  \
    X(LINK_PREFACE, "link.preface", true, "prove to the called daemon that this one knows the secret")                 \
    X(LINK_VERDICT, "link.verdict", true, "take the called daemon's answer to the proof")                              \
    X(LINK_TLS, "link.tls", true, "continue the TLS handshake of a connection between daemons")                        \
    X(LINK_HELLO, "link.hello", false, "tell the other daemon how many frames have arrived, and go on from there")     \
    X(LINK_WRITE, "link.write", true, "write frames to another daemon")                                                \
    X(LINK_READ, "link.read", true, "read frames from another daemon")                                                 \
    X(DOOR_JUDGE, "door.judge", true, "decide about a calling daemon, and answer it")                                  \
    X(HOST_LAUNCH, "host.launch", true, "run the command that starts a daemon on an added host")                       \
    X(HOST_ENTER, "host.enter", true, "enter an added host in the master's table")                                     \
    X(HOST_TELL, "host.tell", false, "tell all daemons of added hosts")                                                \
    X(HOST_ROWS, "host.rows", true, "take the master's rows into a slave's table")                                     \
    X(HOST_UP, "host.up", false, "count added hosts as members, at the master and at each slave")                      \
    X(HOST_DISMISS, "host.dismiss", false, "tell all daemons of a host that is deleted")                               \
    X(HOST_FORGET, "host.forget", false, "take a host out of the table")                                               \
    X(TABLES_CHANGE, "tables.change", true, "make the master's change in a member's tables")                           \
    X(TABLES_LOAD, "tables.load", true, "take over the master's tables of hosts, mailbox and answers")                 \
    X(KEYS_CHANGE, "keys.change", true,                                                                                \
      "make the next step of the replacement of the machine's secret, in any daemon")                                  \
    X(TASK_START, "task.start", true, "start the process of a spawned task")                                           \
    X(TASK_ENROL, "task.enrol", true, "take a task in that has connected")                                             \
    X(TASK_END, "task.end", false, "take an ended task out of the table, and tell those who wait for its end")         \
    X(MAILBOX_PUT, "mailbox.put", true, "put an entry into the mailbox")                                               \
    X(MAILBOX_REMOVE, "mailbox.remove", true, "remove an entry from the mailbox")                                      \
    X(NOTIFY_ADD, "notify.add", true, "note that a task waits for an event (pvm_notify)")                              \
    X(NOTIFY_SEND, "notify.send", false, "send the message of an event to the task that waits for it")                 \
    X(ADDRESS_WRITE, "address.write", true, "write the address file under another name")                               \
    X(ADDRESS_PLACE, "address.place", true, "give the address file its name")                                          \
    X(LOG_WRITE, "log.write", true, "write a line to the daemon's log")                                                \
    X(GROUP_JOIN, "group.join", true, "take a task into a group, in the group server")                                 \
    X(GROUP_LEAVE, "group.leave", false, "take a member out of its group, in the group server")                        \
    X(GROUP_BARRIER, "group.barrier", false, "count a member's arrival at a barrier, in the group server")             \
    X(GROUP_RELEASE, "group.release", false, "release the members that wait in a barrier, in the group server")        \
    X(GROUP_REPLY, "group.reply", false, "answer a member, in the group server")

enum pvmc_failpoint {
#define X(id, ...) PVMC_FAILPOINT_##id,
    PVMC_FAILPOINTS(X)
#undef X
        PVMC_FAILPOINT_COUNT
};

struct pvmc_failpoint_row {
    const char *name;
    bool can_fail;
    const char *help;
};

extern const struct pvmc_failpoint_row pvmc_failpoint_table[PVMC_FAILPOINT_COUNT];

/* Suffix of the name of the moment after a step. */
#define PVMC_FAILPOINT_DONE ".done"

/*
 * Reads PVM_FAULT, once, when a daemon knows its host's name or when the group server starts (host: NULL). A malformed
 * text is logged as an error and ignored. Later changes of the environment have no effect.
 */
void pvmc_failpoint_start(const char *host);

/* Forgets all failpoints: for tests. */
void pvmc_failpoint_stop(void);

/* For the two functions below. */
extern bool pvmc_failpoint_any;
int pvmc_failpoint_pass(enum pvmc_failpoint which, bool done);

/* Before the step: 0, or PVMC_ESYSTEM with errno EIO if it is to fail now, as if the system had refused it. */
static inline int pvmc_failpoint(enum pvmc_failpoint which)
{
    return __builtin_expect(pvmc_failpoint_any, false) ? pvmc_failpoint_pass(which, false) : 0;
}

/* After the step. */
static inline void pvmc_failpoint_done(enum pvmc_failpoint which)
{
    if (__builtin_expect(pvmc_failpoint_any, false))
        pvmc_failpoint_pass(which, true);
}

#endif
