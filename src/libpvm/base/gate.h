/*
 * gate.h - waiting, in libgpvm3, for what other processes do in shared memory instead of by messages.
 *
 * First the task yields its core as long as others come to the gate, for some milliseconds at most, and handles no
 * messages. Then it sleeps until the bell of the gate rings, and receives messages as in any other wait.
 */
#ifndef PVMI_GATE_H
#define PVMI_GATE_H

#include <stdbool.h>
#include <stdint.h>

struct pvmi_gate {
    bool (*is_open)(void *arg);
    unsigned (*come)(void *arg);           /* changes while others come */
    void (*sleep)(void *arg, bool begins); /* the bell must ring from now on, or no longer */
    void *arg;
    int bell; /* a descriptor; readable when the gate is open */
};

/* Yields, if that has paid off lately. Whether the gate is open. */
bool pvmi_gate_yield(const struct pvmi_gate *gate);

/* Waits until the gate is open. 0 or an error as for pvm_recv(). Both in engine/wait.c. */
int pvmi_gate_wait(const struct pvmi_gate *gate);

/* Once in so many calls: receives what has come, and runs handlers. For a task that always finds the gate open. */
void pvmi_gate_listen(void);

/*
 * Whether this task may wait at gates: not in a process with several threads, where another one may be the driver, in
 * virtual time, or if PVM_TRANSPORT leaves out shared memory. In route/route.c.
 */
bool pvmi_gate_is_allowed(void);

/*
 * A number that changes whenever this task sends that one a frame that may come later than what is done afterwards in
 * shared memory: by the daemon or over a network. In route/route.c.
 */
uint32_t pvmi_gate_sent(int tid);

#endif
