/*
 * dpvm.h - what dpvm adds to the C interface of PVM 3.4 (pvm3.h). Programs that use it do not run with another PVM.
 */
#ifndef DPVM_H
#define DPVM_H

#ifdef __cplusplus
extern "C" {
#endif

/* ---- further flags of pvm_spawn() ---- */
#define PvmTaskStreams   0x1000 /* standard error apart from standard output; the status of processes that end */
#define PvmTaskInput     0x2000 /* the first task reads what pvm_input() sends; others have no input */
#define PvmTaskInputAll  0x4000 /* all of them */
#define PvmTaskDirectory 0x8000 /* fail if the directory of `where` cannot be entered */

/* Marks in messages with the output of tasks that were spawned with PvmTaskStreams; see pvm_spawn(3). */
#define PvmOutputError  (-3)
#define PvmOutputStatus (-4)

#define PVM_INPUT_MAX 65536

int pvm_input(int tid, const void *data, int n);
const char *pvm_spawnerr(void);
const char *pvm_addhosterr(int i);

/* ---- values where they lie in the message's memory ---- */
void *pvm_upkview(void *view, int type, int n, void **items);
int pvm_freeview(void *view);

#ifdef __cplusplus
}
#endif

#endif
