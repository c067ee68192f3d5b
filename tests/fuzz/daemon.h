/*
 * daemon.h - a whole daemon within a fuzz target: its real duties and tables, with one connected task and some hosts.
 * Everything outside of the process is faked: links to other daemons, name service, new processes, signals.
 */
#ifndef FUZZ_DAEMON_H
#define FUZZ_DAEMON_H

#include "core/message/frame.h"
#include "fuzz.h"

enum { FUZZ_HOSTS = 4 }; /* the last one has not been announced to all yet; the daemon is the first */

/* Starts it; its master is host `master`, from 1 to FUZZ_HOSTS. Stop it at the end of each input. */
void fuzz_daemon_start(unsigned master);
void fuzz_daemon_stop(void);

/* Runs everything that is due. */
void fuzz_daemon_work(void);

/* Connects a task and enrols it. Its number is always the same, so that inputs can name it. */
#define FUZZ_TASK 0x40001u
void fuzz_task_connect(void);
void fuzz_task_close(void);

/* Send a frame, or a request to the daemon, from the task. Skipped when the socket is full. */
void fuzz_task_frame(const struct pvmc_frame_header *h, const uint8_t *payload);
void fuzz_task_request(uint32_t tag, const uint8_t *body, size_t length);

/* A task of the daemon whose process has not connected yet. */
#define FUZZ_SPAWNED_TASK 0x40002u
void fuzz_task_spawned(void);

/* The wait id of the last request that the daemon sent to this host; 0: none. */
int32_t fuzz_asked(unsigned host);

#endif
